import { beforeAll, describe, expect, it } from "vitest";
import { fixedModel } from "../../test/engine";
import { type Exports, Heap } from "./memory";

let heap: Heap;
beforeAll(async () => void (heap = (await fixedModel()).heap));

describe("the engine's memory", () => {
  it("is given at multiples of 16, never twice", () => {
    heap.scoped(() => {
      const places = [1, 30, 16, 5].map((count) => [heap.bytes(count), count] as const);
      places.forEach(([place, count], at) => {
        expect(place % 16).toBe(0);
        for (const [other] of places.slice(at + 1))
          expect(other).toBeGreaterThanOrEqual(place + count);
      });
    });
  });

  it("holds what is put there, and grows without losing it", () => {
    heap.scoped(() => {
      const [floats, whole] = [heap.putFloats([0.5, -2]), heap.putWhole([7, -1])];
      const before = heap.exports.memory.buffer.byteLength;
      heap.bytes(before);
      expect(heap.exports.memory.buffer.byteLength).toBeGreaterThan(before);
      expect([...heap.floats(floats, 2)]).toEqual([0.5, -2]);
      heap.setWhole(whole + 4, [9]);
      expect([...new Int32Array(heap.exports.memory.buffer, whole, 2)]).toEqual([7, 9]);
    });
  });

  it("grows at once for what is spare", () => {
    heap.scoped(() => {
      const size = () => heap.exports.memory.buffer.byteLength;
      heap.roomy(size(), 200_000);
      const before = size();
      heap.bytes(200_000 - 16);
      expect(size()).toBe(before);
      heap.bytes(100_000);
      expect(size()).toBeGreaterThan(before);
    });
  });

  it("goes back when the work is done, and when it fails", () => {
    const before = heap.exports.mark();
    expect(heap.scoped(() => heap.numbers(100))).toBeGreaterThanOrEqual(before);
    expect(heap.exports.mark()).toBe(before);
    const failing = () =>
      heap.scoped(() => {
        heap.numbers(100);
        throw new Error("half-way");
      });
    expect(failing).toThrow("half-way");
    expect(heap.exports.mark()).toBe(before);
  });

  it("that is not to be had is refused with a remedy", () => {
    const none = new Heap({ allocate: () => 0 } as unknown as Exports);
    expect(() => none.bytes(16)).toThrow("no memory left");
    expect(() => heap.bytes(2 ** 32)).toThrow("close other pages"); // more than can be addressed
  });
});
