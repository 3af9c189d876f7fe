/* What a translation loses when one head is silent: analysis/interventions.py's `head_importance`. */

import type { Kind } from "../../protocol/messages";
import { headSize } from "./config";
import type { Encoded } from "./passes";
import { padded, type Transformer } from "./transformer";

/** Rows that are projected to the vocabulary at once. */
const CHUNK = 32;

/** What a pass needs of a source: its tokens, and the streams [L, S, D] that each layer reads. */
interface Source {
  model: Transformer;
  encoded: Encoded;
  tgtIds: readonly number[];
  /** What each layer of the encoder and of the decoder reads, [L, S, D] and [L, T, D]. */
  srcStates: number;
  tgtStates: number;
}

/**
 * Δ log-probability in nats of `tgtIds`, kept fixed, when each head of one kind alone is silent: a row [H] a layer.
 *
 * The heads of a layer stand side by side as rows of one pass, which begins at their own layer: what lies below a
 * silent head is as it was.
 */
export function* importance(
  model: Transformer,
  srcIds: readonly number[],
  tgtIds: readonly number[],
  kind: Kind,
): Generator<number[]> {
  const { heap, config } = model;
  const place = heap.exports.mark();
  try {
    const source = readSource(model, srcIds, tgtIds);
    const usual = model.heap.scoped(() => {
      const x = repeated(source, source.tgtStates, tgtIds.length, 1);
      return scores(source, source.encoded.source, x, 1, 0, null, 0)[0]!;
    });
    const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
    for (let layer = 0; layer < layers; layer++)
      yield heap.scoped(() => without(source, kind, layer)).map((score) => score - usual);
  } finally {
    heap.exports.release(place);
  }
}

function readSource(
  model: Transformer,
  srcIds: readonly number[],
  tgtIds: readonly number[],
): Source {
  const { heap, config } = model;
  const { exports } = heap;
  const [D, T] = [config.d_model, tgtIds.length];
  const ids = padded(srcIds, config);
  const encoded = model.encode(srcIds);
  const srcStates = heap.numbers(config.encoder_layers * ids.length * D);
  const tgtStates = heap.numbers(config.decoder_layers * T * D);
  const source = { model, encoded, tgtIds, srcStates, tgtStates };
  heap.scoped(() => {
    const x = heap.numbers(Math.max(ids.length, T) * D);
    exports.embed(0, heap.putWhole(ids), 1, ids.length, 0, x);
    exports.encode(x, 1, ids.length, 0, encoded.keep, 0, 0, srcStates);
    exports.embed(1, heap.putWhole([config.start_id, ...tgtIds.slice(0, -1)]), 1, T, 0, x);
    decode(source, encoded.source, x, 1, 0, [0, 0], tgtStates);
  });
  return source;
}

/** Summed log-probabilities [H] of the target where row h lacks head h of one layer. */
function without(source: Source, kind: Kind, layer: number): number[] {
  const { model, encoded, tgtIds, srcStates, tgtStates } = source;
  const { heap, config } = model;
  const { exports } = heap;
  const [D, S, T] = [config.d_model, encoded.length, tgtIds.length];
  if (kind !== "encoder") {
    const heads = config.decoder_heads;
    const x = repeated(source, tgtStates + 4 * layer * T * D, T, heads);
    const gates = silent(source, config.decoder_layers, heads, layer);
    return scores(source, encoded.source, x, heads, layer, kind, gates);
  }
  const heads = config.encoder_heads;
  const x = repeated(source, srcStates + 4 * layer * S * D, S, heads);
  const gates = silent(source, config.encoder_layers, heads, layer);
  exports.encode(x, heads, S, layer, encoded.keep, gates, 0, 0);
  const inner = config.decoder_heads * headSize(config, config.decoder_heads);
  const read = heap.numbers(config.decoder_layers * heads * S * 2 * inner);
  exports.start(x, heads, S, read);
  const y = repeated(source, tgtStates, T, heads);
  return scores(source, read, y, heads, 0, null, 0);
}

/** Gates [L, H, H] that are 1 but for head h of row h in one layer. */
function silent({ model }: Source, layers: number, heads: number, layer: number): number {
  const gates = new Float32Array(layers * heads * heads).fill(1);
  for (let head = 0; head < heads; head++) gates[layer * heads * heads + head * (heads + 1)] = 0;
  return model.heap.putFloats(gates);
}

/** A stream [length, D] as each of `rows` rows. */
function repeated({ model }: Source, stream: number, length: number, rows: number): number {
  const { heap, config } = model;
  const count = length * config.d_model;
  const out = heap.numbers(rows * count);
  const all = heap.floats(out, rows * count);
  const one = heap.floats(stream, count);
  for (let row = 0; row < rows; row++) all.set(one, row * count);
  return out;
}

function decode(
  { model, encoded, tgtIds }: Source,
  read: number,
  x: number,
  rows: number,
  layer: number,
  [own, cross]: readonly [number, number],
  states: number,
): void {
  const { heap, config } = model;
  const [T, memories] = [tgtIds.length, read === encoded.source ? 1 : rows];
  const inner = config.decoder_heads * headSize(config, config.decoder_heads);
  const past = heap.numbers(config.decoder_layers * rows * T * 2 * inner);
  const { keep, length } = encoded;
  heap.exports.decode(
    x,
    rows,
    T,
    0,
    layer,
    past,
    T,
    read,
    memories,
    length,
    keep,
    own,
    cross,
    0,
    0,
    states,
  );
}

/** Summed log-probability of the target in each row of a pass that begins with x at `layer`. */
function scores(
  source: Source,
  read: number,
  x: number,
  rows: number,
  layer: number,
  kind: Kind | null,
  gates: number,
): number[] {
  const { model, tgtIds } = source;
  const { heap, config } = model;
  const [T, V, D] = [tgtIds.length, config.tgt_vocab, config.d_model];
  decode(
    source,
    read,
    x,
    rows,
    layer,
    [kind === "decoder" ? gates : 0, kind === "cross" ? gates : 0],
    0,
  );
  const out = new Array<number>(rows).fill(0);
  const logits = heap.numbers(CHUNK * V);
  for (let at = 0; at < rows * T; at += CHUNK) {
    const count = Math.min(CHUNK, rows * T - at);
    heap.exports.project(x + 4 * at * D, count, logits);
    for (let i = 0; i < count; i++) {
      heap.exports.log_softmax(logits + 4 * i * V, V);
      const id = tgtIds[(at + i) % T]!;
      out[Math.floor((at + i) / T)]! += heap.floats(logits + 4 * (i * V + id), 1)[0]!;
    }
  }
  return out;
}
