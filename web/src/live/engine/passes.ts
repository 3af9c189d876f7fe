/* What goes into the passes of a model and what comes out of them. */

import type { ModelConfig } from "./config";

/**
 * A factor for each head of each attention, [L, H], or [L, B, H]; none: all are 1 (Voita et al.
 * 2019).
 */
export interface Gates {
  encoder?: Float32Array;
  decoder?: Float32Array;
  cross?: Float32Array;
}

/** A source that was read: what the decoder needs of it stays in the engine's memory. */
export interface Encoded {
  /** S, padding among them where the model attends to it. */
  length: number;
  /** The encoder's maps, [L, H, S, S]. */
  weights: Float32Array;
  /** Keys and values of every layer's cross-attention, [L, 1, S, 2, I]. */
  source: number;
  /** [S] bytes, 0 where a token is not to be read; or 0 for none such. */
  keep: number;
}

/** What a decoder remembers between two steps. */
export interface Cache {
  rows: number;
  length: number;
  capacity: number;
  /** Keys and values, [L, B, capacity, 2, I], and as much again to reorder them into. */
  past: number;
  spare: number;
  encoded: Encoded;
  x: number;
  ids: number;
  own: number;
  cross: number;
  logits: number;
  /**
   * What the caller gave, and the same for as many hypotheses as `ofRows`, in the engine's memory.
   */
  gates: { given: Gates; decoder: number; cross: number; ofRows: number };
}

/**
 * What a whole pass over a target gives: [L, H, T, T], [L, H, T, S], and log-probabilities [T, V]
 * in nats.
 */
export interface Decoded {
  decoder: Float32Array;
  cross: Float32Array;
  logProbs: Float32Array;
}

/** What the encoder reads; a model with a fixed length gets padding up to it. */
export function padded(srcIds: readonly number[], config: ModelConfig): number[] {
  const missing = (config.padded_length ?? srcIds.length) - srcIds.length;
  return [...srcIds, ...new Array<number>(missing).fill(config.pad_id)];
}
