/* The weights of a file put where the engine reads them: matrices stay where they are, float16 or
   float32. */

import { Refusal } from "../refusal";
import { ACTIVATIONS, checkConfig, decoderWidth, headSize, type ModelConfig } from "./config";
import type { Heap } from "./memory";
import { sinusoids } from "./positions";
import { readHeader, type Entry } from "./safetensors";

const STACKS = ["encoder", "decoder"] as const;
const LINEARS = [
  "attention.qkv",
  "attention.out",
  "cross.qkv",
  "cross.out",
  "feed_forward.up",
  "feed_forward.down",
];
const NORMS = ["attention_residual.norm", "cross_residual.norm", "feed_forward_residual.norm"];
const FINAL = 3;

/** Tensors by their names in the file, as the engine takes them. */
class Weights {
  private readonly entries: Map<string, Entry>;
  private readonly left: Set<string>;

  constructor(
    private readonly heap: Heap,
    private readonly place: number,
    size: number,
  ) {
    this.entries = readHeader(new Uint8Array(heap.exports.memory.buffer, place, size));
    this.left = new Set(this.entries.keys());
  }

  /** Where a matrix [rows, columns] lies, and whether in halves. */
  matrix(name: string, rows: number, columns: number): [place: number, halves: number] {
    const entry = this.entry(name, [rows, columns]);
    return [this.place + entry.start, entry.dtype === "F16" ? 1 : 0];
  }

  /** A tensor of `shape` as float32. */
  floats(name: string, shape: number[]): number {
    const entry = this.entry(name, shape);
    const count = shape.reduce((a, b) => a * b, 1);
    const to = this.heap.numbers(count);
    if (entry.dtype === "F16") this.heap.exports.widened(this.place + entry.start, count, to);
    else {
      const bytes = new Uint8Array(this.heap.exports.memory.buffer);
      bytes.copyWithin(to, this.place + entry.start, this.place + entry.end);
    }
    return to;
  }

  /** What nobody has asked for. */
  get superfluous(): string[] {
    return [...this.left];
  }

  private entry(name: string, shape: number[]): Entry {
    const entry = this.entries.get(name);
    if (!entry) throw new Refusal(`the weights lack ${name}, which config.json asks for`);
    if (entry.shape.join() !== shape.join())
      throw new Refusal(
        `the weights ${name} have the shape [${entry.shape.join(", ")}], config.json asks for [${shape.join(", ")}]`,
      );
    const size = shape.reduce((a, b) => a * b, 1) * { F16: 2, F32: 4 }[entry.dtype]!;
    if (size !== entry.end - entry.start)
      throw new Refusal(`the weights ${name} are ${entry.dtype}; this page reads F16 and F32`);
    this.left.delete(name);
    return entry;
  }
}

/**
 * Tell the engine what `config` says and where the weights are, whose file lies at `place`.
 *
 * Returns where the positions of the source lie, [max_positions, d_model] in float32.
 */
export function loadWeights(heap: Heap, config: ModelConfig, place: number, size: number): number {
  checkConfig(config);
  const weights = new Weights(heap, place, size);
  const { exports } = heap;
  exports.configure(
    config.d_model,
    Number(config.norm === "pre"),
    Number(config.norm_variant === "unbiased"),
    config.norm_eps,
    ACTIVATIONS.indexOf(config.activation),
    config.scale_embeddings ? Math.sqrt(config.d_model) : 1,
  );
  STACKS.forEach((_, which) => loadStack(heap, config, weights, which));
  const positions = loadEnds(heap, config, weights);
  if (weights.superfluous.length)
    throw new Refusal(
      `the weights hold ${weights.superfluous[0]}, which config.json does not ask for`,
    );
  return positions;
}

function norm(config: ModelConfig, weights: Weights, name: string): [weight: number, bias: number] {
  const shape = [config.d_model];
  const bias = config.norm_bias ? weights.floats(`${name}.bias`, shape) : 0;
  return [weights.floats(`${name}.weight`, shape), bias];
}

function loadStack(heap: Heap, config: ModelConfig, weights: Weights, which: number): void {
  const { exports } = heap;
  const decoder = which === 1;
  const layers = decoder ? config.decoder_layers : config.encoder_layers;
  const heads = decoder ? config.decoder_heads : config.encoder_heads;
  const wide = decoder ? decoderWidth(config) : config.d_ff;
  const size = headSize(config, heads);
  const [inner, width] = [heads * size, config.d_model];
  if (!exports.stack(which, layers, heads, size, wide)) heap.bytes(2 ** 32); // which says why
  const shapes = [
    [3 * inner, width, config.qkv_bias],
    [width, inner, config.out_bias],
    [3 * inner, width, config.qkv_bias],
    [width, inner, config.out_bias],
    [wide, width, config.ff_bias],
    [width, wide, config.ff_bias],
  ] as const;
  for (let at = 0; at < layers; at++) {
    const prefix = `${STACKS[which]}.${at}.`;
    LINEARS.forEach((name, part) => {
      if (name.startsWith("cross") && !decoder) return;
      const [rows, columns, biased] = shapes[part]!;
      const [weight, halves] = weights.matrix(`${prefix}${name}.weight`, rows, columns);
      const bias = biased ? weights.floats(`${prefix}${name}.bias`, [rows]) : 0;
      if (!exports.layer_linear(which, at, part, weight, bias, halves)) heap.bytes(2 ** 32);
    });
    NORMS.forEach((name, part) => {
      if (name.startsWith("cross") && !decoder) return;
      exports.layer_norms(which, at, part, ...norm(config, weights, prefix + name));
    });
  }
  if (config.final_norm)
    exports.layer_norms(which, 0, FINAL, ...norm(config, weights, `${STACKS[which]}_norm`));
}

/**
 * Token vectors of both sides, with positions and norms, and the output projection; where the
 * source's positions lie.
 */
function loadEnds(heap: Heap, config: ModelConfig, weights: Weights): number {
  const { exports } = heap;
  const width = config.d_model;
  let [table, halves] = weights.matrix("src_embedding.weight", config.src_vocab, width);
  const shape = [config.max_positions, width];
  const fixed =
    config.positions === "learned"
      ? 0
      : heap.putFloats(
          sinusoids(config.max_positions, width, config.positions, config.first_position),
        );
  const places = [0, 1].map((target) => {
    if (target && config.embeddings !== "shared")
      [table, halves] = weights.matrix("tgt_embedding.weight", config.tgt_vocab, width);
    const positions = fixed || weights.floats(target ? "tgt_positions" : "src_positions", shape);
    const vocab = target ? config.tgt_vocab : config.src_vocab;
    const [weight, bias] = config.embedding_norm
      ? norm(config, weights, `embedding_norms.${target}`)
      : [0, 0];
    exports.embedding(target, table, halves, vocab, positions, weight, bias);
    return positions;
  });
  if (config.embeddings === "separate")
    [table, halves] = weights.matrix("output.weight", config.tgt_vocab, width);
  const bias = config.output_bias ? weights.floats("output.bias", [config.tgt_vocab]) : 0;
  if (!exports.output(table, bias, halves, config.tgt_vocab)) heap.bytes(2 ** 32);
  return places[0]!;
}
