import { deflateSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { floatsOf, fromTriangles, messageOf } from "./decode";

/** As `translator.ui.payload.pack` writes: all first bytes, then all second ones. */
const fixed = (values: number[], full: number): string => {
  const fixed = values.map((value) => Math.round(value * full));
  return Buffer.from([...fixed.map((v) => v >> 8), ...fixed.map((v) => v & 255)]).toString(
    "base64",
  );
};
const f32 = (values: number[]): string => {
  const bytes = Buffer.from(new Float32Array(values).buffer);
  const planes = [0, 1, 2, 3].flatMap((k) => values.map((_, i) => bytes[4 * i + k]));
  return Buffer.from(planes).toString("base64");
};

describe("weights", () => {
  const values = [0, 1, 0.5, 0.123456, 1 / 3];

  it("come back from 16 bits within half a step", () => {
    const found = floatsOf(fixed(values, 65535), "u16");
    values.forEach((value, i) => expect(Math.abs(found[i] - value)).toBeLessThan(0.51 / 65535));
  });

  it("come back from four decimals as they are shown", () => {
    const small = [0.0191, 0.0192, 0.0001, 0.0255, 0.0256];
    const low = [10_000 & 255, 5000 & 255, 1235 & 255, 3333 & 255, 192, 255, 0];
    const first = [0, 192 + 39, 192 + 19, 192 + 4, 192 + 13, 191, 192, 1, 192, 192 + 1];
    const found = floatsOf(new Uint8Array([...first, ...low]), "d4");
    const all = [...values, ...small];
    expect(found.length).toBe(all.length);
    all.forEach((value, i) => expect(found[i].toFixed(4)).toBe(value.toFixed(4)));
    expect(floatsOf(Buffer.from([...first, ...low]).toString("base64"), "d4")).toEqual(found);
    expect(floatsOf("", "d4").length).toBe(0);
  });

  it("are unpacked by the browser's own decoder of base64, if it has one", () => {
    const fromBase64 = vi.fn((base64: string) => new Uint8Array(Buffer.from(base64, "base64")));
    const sent = f32(values);
    const want = floatsOf(sent, "f32");
    Object.assign(Uint8Array, { fromBase64 });
    expect(floatsOf(sent, "f32")).toEqual(want);
    delete (Uint8Array as { fromBase64?: unknown }).fromBase64;
    expect(fromBase64).toHaveBeenCalledExactlyOnceWith(sent);
  });

  it("come back from 32 bits as they were", () => {
    expect([...floatsOf(f32(values), "f32")]).toEqual([...new Float32Array(values)]);
  });

  it("that are numbers already stay as they are", () => {
    const numbers = new Float32Array(values);
    expect(floatsOf(numbers, "f32")).toBe(numbers);
  });

  it("of a decoder are lower triangles: the future is 0", () => {
    const full = fromTriangles(new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), 2, 3);
    expect([...full]).toEqual([1, 0, 0, 2, 3, 0, 4, 5, 6, 7, 0, 0, 8, 9, 0, 10, 11, 12]);
  });
});

describe("a message", () => {
  it("of the page's own is itself", () => {
    const message = { kind: "empty" };
    expect(messageOf(message)).toBe(message);
  });

  it("that is short is there at once", () => {
    expect(messageOf('{"kind":"empty","text":"ß"}')).toEqual({ kind: "empty", text: "ß" });
  });

  it("that came deflated is promised", async () => {
    const text = JSON.stringify({ kind: "example", id: "ä".repeat(20_000) });
    const found = messageOf(deflateSync(text).toString("base64"));
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toEqual(JSON.parse(text));
  });

  it("that cannot be read is a promise that fails", async () => {
    await expect(messageOf("bm90IGRlZmxhdGVk")).rejects.toThrow();
  });
});
