/* The engine's memory as JavaScript sees it. */

import { Refusal } from "../refusal";

/**
 * What engine.wasm offers; a pointer is a byte of its memory, and 0 is none. Shapes:
 * web/engine/transformer.c.
 */
export interface Exports {
  memory: WebAssembly.Memory;
  allocate(bytes: number): number;
  mark(): number;
  release(place: number): void;
  configure(
    width: number,
    preNorm: number,
    unbiased: number,
    epsilon: number,
    activation: number,
    scale: number,
  ): void;
  stack(which: number, layers: number, heads: number, headSize: number, inner: number): number;
  layer_linear(
    which: number,
    at: number,
    part: number,
    weight: number,
    bias: number,
    halves: number,
  ): number;
  layer_norms(which: number, at: number, part: number, weight: number, bias: number): void;
  embedding(
    target: number,
    table: number,
    halves: number,
    vocab: number,
    positions: number,
    normWeight: number,
    normBias: number,
  ): void;
  output(weight: number, bias: number, halves: number, vocab: number): number;
  widened(from: number, count: number, to: number): void;
  embed(target: number, ids: number, rows: number, length: number, first: number, x: number): void;
  encode(
    x: number,
    rows: number,
    length: number,
    from: number,
    keep: number,
    gates: number,
    maps: number,
    to: number,
    by: number,
  ): number;
  start(memory: number, rows: number, length: number, read: number): void;
  decode(
    x: number,
    rows: number,
    length: number,
    first: number,
    from: number,
    cache: number,
    capacity: number,
    source: number,
    memories: number,
    sourceLength: number,
    keep: number,
    ownGates: number,
    crossGates: number,
    own: number,
    cross: number,
    to: number,
    by: number,
  ): number;
  silence(
    attention: number,
    at: number,
    x: number,
    mixed: number,
    count: number,
    out: number,
  ): number;
  project(x: number, count: number, logits: number): void;
  score(x: number, ids: number, count: number, logProbs: number): number;
  log_softmax(logits: number, count: number): void;
  entropy(logProbs: number, count: number): number;
  reorder(
    cache: number,
    rows: number,
    capacity: number,
    from: number,
    count: number,
    length: number,
    out: number,
  ): void;
}

/** Takes memory from the engine, and looks into it. */
export class Heap {
  constructor(readonly exports: Exports) {}

  /** `bytes` of memory, at a multiple of 16. */
  bytes(count: number): number {
    const place = count < 2 ** 32 ? this.exports.allocate(count) : 0;
    if (place === 0)
      throw new Refusal(
        "the browser has no memory left for this; close other pages, or shorten the text",
      );
    return place;
  }

  /**
   * The same, grown at once for `spare` bytes more, if they are to be had: a browser may copy all
   * of the memory each time that it grows.
   */
  roomy(count: number, spare: number): number {
    this.scoped(() => this.exports.allocate(count + spare));
    return this.bytes(count);
  }

  /** Room for `count` numbers of 32 bits, not cleared. */
  numbers(count: number): number {
    return this.bytes(4 * count);
  }

  /** The floats at `place`; good until more memory is taken. */
  floats(place: number, count: number): Float32Array {
    return new Float32Array(this.exports.memory.buffer, place, count);
  }

  /** A copy of `values` in the engine's memory. */
  putFloats(values: ArrayLike<number>): number {
    const place = this.numbers(values.length);
    this.floats(place, values.length).set(values);
    return place;
  }

  /** A copy of whole numbers in the engine's memory. */
  putWhole(values: ArrayLike<number>): number {
    const place = this.numbers(values.length);
    this.setWhole(place, values);
    return place;
  }

  /** Write whole numbers over what lies at `place`. */
  setWhole(place: number, values: ArrayLike<number>): void {
    new Int32Array(this.exports.memory.buffer, place, values.length).set(values);
  }

  /** Give back, when `work` is done or has failed, all that it took. */
  scoped<R>(work: () => R): R {
    const place = this.exports.mark();
    try {
      return work();
    } finally {
      this.exports.release(place);
    }
  }
}
