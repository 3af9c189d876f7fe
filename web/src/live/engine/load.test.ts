/* Weights that a page takes and that it refuses, against what config.json says. */

import { describe, expect, it } from "vitest";
import { apart, fixedConfig, fixedModel, fixedWeights } from "../../test/engine";
import { decoderWidth, headSize, type ModelConfig, WIDEST } from "./config";
import { readHeader } from "./safetensors";

interface Tensor {
  dtype: string;
  shape: number[];
  bytes: Uint8Array;
}
type Tensors = Map<string, Tensor>;

/** The stored weights, tensor by tensor. */
const stored = (): Tensors => {
  const file = fixedWeights();
  return new Map(
    [...readHeader(file)].map(([name, { dtype, shape, start, end }]) => [
      name,
      { dtype, shape, bytes: file.slice(start, end) },
    ]),
  );
};
/** A safetensors file of them; `space` is put behind the header, which moves all numbers. */
const fileOf = (tensors: Tensors, space = 0): Uint8Array => {
  let end = 0;
  const places = [...tensors].map(([name, { dtype, shape, bytes }]) => {
    const data_offsets = [end, (end += bytes.length)];
    return [name, { dtype, shape, data_offsets }];
  });
  const header = JSON.stringify(Object.fromEntries(places)) + " ".repeat(space);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
  const data = [...tensors.values()].map(({ bytes }) => bytes);
  return new Uint8Array(Buffer.concat([length, Buffer.from(header), ...data]));
};
/** A number of 16 bits, as IEEE 754 has it. */
const half = (bits: number): number => {
  const [sign, exponent, part] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
};
const widened = (tensors: Tensors): Tensors =>
  new Map(
    [...tensors].map(([name, { shape, bytes }]) => {
      const floats = Float32Array.from(new Uint16Array(bytes.buffer), half);
      return [name, { dtype: "F32", shape, bytes: new Uint8Array(floats.buffer) }];
    }),
  );

const said = async (file: Uint8Array, changes: Partial<ModelConfig> = {}) => {
  const model = await fixedModel(changes, file);
  return model.heap.scoped(() => model.decode(model.encode([311, 287, 2]), [287, 2])).logProbs;
};
const refusal = (file: Uint8Array, changes: Partial<ModelConfig> = {}) =>
  fixedModel(changes, file).then(
    () => "",
    (error: Error) => error.message,
  );

describe("a file of weights", () => {
  it("may begin anywhere: numbers are moved to where the engine reads them", async () => {
    const want = await said(fixedWeights());
    for (const space of [0, 1, 2, 7]) expect(await said(fileOf(stored(), space))).toEqual(want);
  });

  it("of 32 bits says what the same numbers of 16 bits say", async () => {
    expect(apart(await said(fileOf(widened(stored()))), await said(fixedWeights()))).toBeLessThan(
      2e-5,
    );
  });

  it("with positions of its own has them in place of sines", async () => {
    const tensors = widened(stored());
    const table = Float32Array.from({ length: 200 * 16 }, (_, at) => Math.cos(at));
    for (const name of ["src_positions", "tgt_positions"])
      tensors.set(name, { dtype: "F32", shape: [200, 16], bytes: new Uint8Array(table.buffer) });
    const model = await fixedModel({ positions: "learned" }, fileOf(tensors));
    expect(model.positions).toEqual(table);
  });

  it("with one table for the target's tokens reads and says by it", async () => {
    const tensors = stored();
    const twice = new Map(tensors).set("output.weight", tensors.get("tgt_embedding.weight")!);
    tensors.delete("output.weight");
    expect(await said(fileOf(tensors), { embeddings: "tied" })).toEqual(await said(fileOf(twice)));
  });
});

describe("weights are refused by name", () => {
  const without = (name: string) => {
    const tensors = stored();
    tensors.delete(name);
    return fileOf(tensors);
  };

  it.each<[string, Partial<ModelConfig>, string]>([
    ["lacks a bias", { output_bias: true }, "the weights lack output.bias"],
    ["has too many", { qkv_bias: false }, "hold decoder.0.attention.qkv.bias"],
    ["has another shape", { tgt_vocab: 40 }, "have the shape [330, 16], config.json asks for [40,"],
    ["has fewer layers", { encoder_layers: 3 }, "lack encoder.2.attention.qkv.weight"],
  ])("where the file %s", async (_, changes, want) => {
    expect(await refusal(fixedWeights(), changes)).toContain(want);
  });

  it("where one is gone, or of another kind of number", async () => {
    expect(await refusal(without("encoder.0.attention.out.bias"))).toContain(
      "lack encoder.0.attention.out.bias",
    );
    const tensors = stored();
    const { shape, bytes } = tensors.get("output.weight")!;
    tensors.set("output.weight", { dtype: "I8", shape, bytes });
    expect(await refusal(fileOf(tensors))).toContain("output.weight are I8; this page reads F16");
  });

  it("where they are cut off", async () => {
    expect(await refusal(fixedWeights().slice(0, -100))).toContain("outside their file");
  });
});

describe("a config", () => {
  it.each<[Partial<Record<keyof ModelConfig, unknown>>, string]>([
    [{ activation: "swiglu" }, "activation is 'swiglu'; this page computes relu, gelu, silu, none"],
    [{ positions: "rotary" }, "positions is 'rotary'"],
    [{ norm: "sandwich" }, "norm is 'sandwich'; this page computes pre, post"],
    [{ d_ff: WIDEST + 1 }, `d_ff is ${WIDEST + 1}; this page computes widths up to ${WIDEST}`],
    [{ decoder_d_ff: 40_000 }, "decoder_d_ff is 40000"],
    [{ decoder_heads: 3, d_head: 6000 }, "decoder_heads × d_head is 18000"],
  ])("%j is refused by name", async (changes, want) => {
    expect(await refusal(fixedWeights(), changes as Partial<ModelConfig>)).toContain(want);
  });

  it("leaves the size of heads and the decoder's width to the rest of it", () => {
    const { model } = fixedConfig();
    expect(headSize(model, 2)).toBe(8);
    expect(headSize({ ...model, d_head: 5 }, 2)).toBe(5);
    expect(decoderWidth(model)).toBe(32);
    expect(decoderWidth({ ...model, decoder_d_ff: 20 })).toBe(20);
  });
});
