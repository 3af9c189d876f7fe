/* What a translation loses when one head is silent: analysis/interventions.py's `head_importance`.
 */

import type { Kind } from "../../protocol/messages";
import { decoderWidth, headSize } from "./config";
import { type Encoded, padded } from "./passes";
import type { Transformer } from "./transformer";

/** The sublayers of a layer, and the attentions among them: of the encoder, and of the decoder. */
const SUBLAYERS = { encoder: 2, decoder: 3 } as const;
const ATTENTIONS = { encoder: 1, decoder: 2 } as const;

/** How the engine calls an attention, and which one of its layer it is. */
const PLACES: Record<Kind, { stack: "encoder" | "decoder"; attention: number; at: 0 | 1 }> = {
  encoder: { stack: "encoder", attention: 0, at: 0 },
  decoder: { stack: "decoder", attention: 1, at: 0 },
  cross: { stack: "decoder", attention: 2, at: 1 },
};

/**
 * What a pass with every head on left: what the attentions of a stack read, [attentions, length,
 * D], what their heads gave, [attentions, length, I], and all of its `Record` in the engine's
 * memory.
 */
interface Recorded {
  length: number;
  inner: number;
  states: number;
  mixed: number;
  record: number;
}

/** One translation, with every head on. */
interface Source {
  model: Transformer;
  encoded: Encoded;
  tgtIds: readonly number[];
  encoder: Recorded;
  decoder: Recorded;
  /** Summed log-probability of `tgtIds` in nats. */
  usual: number;
}

/**
 * Δ log-probability in nats of `tgtIds`, kept fixed, when each head of one kind alone is silent: a
 * row [H] a layer.
 *
 * The heads of a layer stand side by side as rows of one pass, which begins behind their own
 * attention: what lies below is as it was, and so is what its other heads give.
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
    const source = sourceAt(place, model, srcIds, tgtIds);
    const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
    for (let layer = 0; layer < layers; layer++)
      yield heap.scoped(() => without(source, kind, layer)).map((score) => score - source.usual);
  } finally {
    heap.exports.release(place);
  }
}

/** A translation as it was read last, and the engine's memory from `place` on that holds it. */
interface Kept {
  source: Source;
  asked: string;
  place: number;
  bytes: Uint8Array;
}

const kept = new WeakMap<Transformer, Kept>();

/**
 * What is read of a translation serves its next kind of attention too, as long as no other comes
 * between.
 */
function sourceAt(
  place: number,
  model: Transformer,
  srcIds: readonly number[],
  tgtIds: readonly number[],
): Source {
  const { heap } = model;
  const asked = `${srcIds.join()} ${tgtIds.join()}`;
  const last = kept.get(model);
  const seen = (length: number) => new Uint8Array(heap.exports.memory.buffer, place, length);
  if (last?.asked === asked && last.place === place) {
    const { length } = last.bytes;
    heap.bytes(length);
    seen(length).set(last.bytes);
    return last.source;
  }
  kept.delete(model);
  const source = readSource(model, srcIds, tgtIds);
  kept.set(model, { source, asked, place, bytes: seen(heap.exports.mark() - place).slice() });
  return source;
}

function readSource(
  model: Transformer,
  srcIds: readonly number[],
  tgtIds: readonly number[],
): Source {
  const { heap, config } = model;
  const encoder = recorded(model, "encoder", padded(srcIds, config).length);
  const decoder = recorded(model, "decoder", tgtIds.length);
  const encoded = model.encode(srcIds, {}, encoder.record);
  const source = { model, encoded, tgtIds, encoder, decoder, usual: 0 };
  const [usual] = heap.scoped(() => {
    const x = heap.numbers(tgtIds.length * config.d_model);
    const reads = heap.putWhole([config.start_id, ...tgtIds.slice(0, -1)]);
    heap.exports.embed(1, reads, 1, tgtIds.length, 0, x);
    decode(source, encoded.source, x, 1, 0, true);
    return scores(source, x, 1);
  });
  return { ...source, usual: usual! };
}

/** Room for what a pass over `length` tokens records. */
function recorded(
  { heap, config }: Transformer,
  stack: "encoder" | "decoder",
  length: number,
): Recorded {
  const heads = config[`${stack}_heads`];
  const inner = heads * headSize(config, heads);
  const layers = config[`${stack}_layers`] * length;
  const rows = ATTENTIONS[stack] * layers;
  const states = heap.numbers(rows * config.d_model);
  const mixed = heap.numbers(rows * inner);
  const reads = heap.numbers(layers * config.d_model);
  const sums = heap.numbers(layers * (stack === "encoder" ? config.d_ff : decoderWidth(config)));
  return { length, inner, states, mixed, record: heap.putWhole([states, mixed, reads, sums]) };
}

/** Summed log-probabilities [H] of the target where row h lacks head h of one layer. */
function without(source: Source, kind: Kind, layer: number): number[] {
  const { model, encoded } = source;
  const { heap, config } = model;
  const { stack, attention, at } = PLACES[kind];
  const { length, inner, states, mixed } = source[stack];
  const heads = config[`${stack}_heads`];
  const x = heap.numbers(heads * length * config.d_model);
  const before = (layer * ATTENTIONS[stack] + at) * length;
  const [read, gave] = [states + 4 * before * config.d_model, mixed + 4 * before * inner];
  model.check(heap.exports.silence(attention, layer, read, gave, length, x));
  const from = layer * SUBLAYERS[stack] + at + 1;
  if (stack === "encoder") return scores(source, reread(source, x, heads, from), heads);
  decode(source, encoded.source, x, heads, from);
  return scores(source, x, heads);
}

/**
 * What the decoder makes of `rows` sources x that the encoder reads on from one of its sublayers.
 */
function reread(source: Source, x: number, rows: number, from: number): number {
  const { model, encoded, encoder, decoder } = source;
  const { heap, config } = model;
  const S = encoder.length;
  model.check(heap.exports.encode(x, rows, S, from, encoded.keep, 0, 0, 0, encoder.record));
  const read = heap.numbers(config.decoder_layers * rows * S * 2 * decoder.inner);
  heap.exports.start(x, rows, S, read);
  const size = decoder.length * config.d_model;
  const out = heap.numbers(rows * size);
  // The target's attention to itself in the first layer has not read any source yet.
  const one = heap.floats(decoder.states + 4 * size, size);
  for (let row = 0; row < rows; row++) heap.floats(out, rows * size).set(one, row * size);
  decode(source, read, out, rows, 1);
  return out;
}

/**
 * Take x [rows, T, D] from sublayer `from` to the end: the pass that others are near to, which it
 * is to record, or one.
 */
function decode(
  { model, encoded, decoder }: Source,
  read: number,
  x: number,
  rows: number,
  from: number,
  first = false,
): void {
  const { heap, config } = model;
  const { length: T, inner } = decoder;
  const past = heap.numbers(config.decoder_layers * rows * T * 2 * inner);
  const memories = read === encoded.source ? 1 : rows;
  const { keep, length: S } = encoded;
  const [to, by] = first ? [decoder.record, 0] : [0, decoder.record];
  const { exports } = heap;
  model.check(
    exports.decode(x, rows, T, 0, from, past, T, read, memories, S, keep, 0, 0, 0, 0, to, by),
  );
}

/** Summed log-probability of the target in each row of what the decoder left, x [rows, T, D]. */
function scores({ model, tgtIds }: Source, x: number, rows: number): number[] {
  const { heap } = model;
  const T = tgtIds.length;
  const ids = heap.putWhole(Array.from({ length: rows * T }, (_, i) => tgtIds[i % T]!));
  const out = heap.numbers(rows * T);
  model.check(heap.exports.score(x, ids, rows * T, out));
  const found = heap.floats(out, rows * T);
  return Array.from({ length: rows }, (_, row) =>
    found.subarray(row * T, (row + 1) * T).reduce((sum, logProb) => sum + logProb, 0),
  );
}
