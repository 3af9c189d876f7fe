import { describe, expect, it } from "vitest";
import { dataStart, readHeader } from "./safetensors";

const file = (header: object, data = 8): Uint8Array => {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const out = new Uint8Array(8 + text.length + data);
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true);
  out.set(text, 8);
  return out;
};
const tensor = (start: number, end: number) => ({
  dtype: "F16",
  shape: [2, 2],
  data_offsets: [start, end],
});

describe("a safetensors file", () => {
  it("says where its tensors lie, from its beginning", () => {
    const bytes = file({ __metadata__: { format: "pt" }, one: tensor(0, 8) });
    const start = dataStart(bytes);
    expect(start).toBe(bytes.length - 8);
    expect([...readHeader(bytes)]).toEqual([
      ["one", { dtype: "F16", shape: [2, 2], start, end: start + 8 }],
    ]);
  });

  it("that is cut off, or is none, is refused", () => {
    const bytes = file({ one: tensor(0, 8) });
    expect(() => readHeader(bytes.subarray(0, 20))).toThrow("cut off");
    expect(() => dataStart(new Uint8Array(16).fill(255))).toThrow("no safetensors file");
    expect(() => readHeader(bytes.subarray(0, bytes.length - 1))).toThrow("the weights one lie");
    expect(() => readHeader(file({ one: tensor(8, 0) }))).toThrow("lie outside");
  });
});
