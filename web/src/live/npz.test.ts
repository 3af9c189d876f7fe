import { unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { withoutWeights } from "../test/checkpoint";
import { npz } from "./npz";
import type { Trace } from "./trace";

/** One array of a file, as NumPy's own documentation of format 1.0 says. */
const read = (file: Uint8Array) => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getUint16(8, true);
  const header = new TextDecoder().decode(file.slice(10, 10 + length));
  const [, dtype, order, inner] =
    /^\{'descr': '(.+)', 'fortran_order': (\w+), 'shape': \((.*)\), \} *\n$/.exec(header)!;
  const shape = inner!.split(",").filter(Boolean).map(Number);
  return { dtype, order, shape, start: 10 + length, bytes: file.slice(10 + length) };
};

const bundle = withoutWeights("de-en");
const TEXT = "Ein 😀 Haus";
const SHAPE = [1, 2, 3, 4];
const maps = (from: number) => ({
  shape: SHAPE,
  values: Float32Array.from({ length: 24 }, (_, at) => from + at / 7),
});
const ids = bundle.src.ids("house");
const tgt = bundle.tgt.tokens([...bundle.tgt.ids("A house"), 2]);
const trace = {
  request: { source: TEXT, encoding: bundle.src.encode(TEXT), config: { method: "greedy" } },
  src: bundle.src.encode(TEXT).tokens,
  tgt,
  start: bundle.tgt.token(1),
  translation: "A house",
  encoder: maps(0),
  decoder: maps(10),
  cross: maps(20),
  thoughts: tgt.map((_, at) => ({
    logProb: -at / 3,
    entropy: at,
    candidates: [[ids[0]!, -0.5]],
    beams: [],
  })),
  truncated: false,
  took: 1500,
} as unknown as Trace;

describe("a trace as a file of NumPy's", () => {
  const files = unzipSync(npz(bundle, trace));
  const array = (name: string) => read(files[`${name}.npy`]!);

  it("holds each array, in the format's own frame", () => {
    const names = ["encoder", "decoder", "cross", "log_probs", "src", "tgt", "meta"];
    expect(Object.keys(files)).toEqual(names.map((name) => `${name}.npy`));
    for (const file of Object.values(files)) {
      expect([...file.slice(0, 8)]).toEqual([0x93, 78, 85, 77, 80, 89, 1, 0]);
      expect(read(file)).toMatchObject({ order: "False" });
      expect(read(file).start % 64).toBe(0);
    }
  });

  it.each(["encoder", "decoder", "cross"] as const)("keeps every weight of %s", (name) => {
    const { dtype, shape, bytes } = array(name);
    expect([dtype, shape]).toEqual(["<f4", SHAPE]);
    expect([...new Float32Array(bytes.buffer)]).toEqual([...trace[name].values]);
  });

  it("keeps log-probabilities in double precision", () => {
    const { dtype, shape, bytes } = array("log_probs");
    expect([dtype, shape]).toEqual(["<f8", [tgt.length]]);
    expect([...new Float64Array(bytes.buffer)]).toEqual(tgt.map((_, at) => -at / 3));
  });

  it("keeps surfaces as texts of one width", () => {
    const { dtype, shape, bytes } = array("src");
    const width = Number(dtype!.slice(2));
    const codes = [...new Uint32Array(bytes.buffer)];
    const texts = trace.src.map((_, at) =>
      String.fromCodePoint(...codes.slice(at * width, (at + 1) * width)).replace(/\0+$/, ""),
    );
    expect(dtype).toMatch(/^<U\d+$/);
    expect(shape).toEqual([trace.src.length]);
    expect(texts).toEqual(trace.src.map(({ surface }) => surface));
  });

  it("counts places in characters, as Python does", () => {
    const meta = JSON.parse(new TextDecoder().decode(array("meta").bytes));
    const words = meta.src.map(({ span }: { span: number[] }) => [...TEXT].slice(...span).join(""));
    expect(words.join("").replaceAll(" ", "")).toContain("Haus");
    expect(words.at(-1)).toMatch(/s$/);
    expect(meta).toMatchObject({ format: 1, source: TEXT, seconds: 1.5, altered: false });
    expect(meta.steps).toHaveLength(tgt.length);
    expect(meta.steps[1].tokens).toHaveLength(2);
    expect(meta.steps[0].candidates[0]).toMatchObject({ token: { id: ids[0] }, log_prob: -0.5 });
  });
});
