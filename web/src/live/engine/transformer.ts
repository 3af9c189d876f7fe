/* One model in WebAssembly: the passes of translator/model/transformer.py with every attention
   weight. */

import { Refusal } from "../refusal";
import { headSize, type ModelConfig } from "./config";
import { loadWeights } from "./load";
import { Heap, type Exports } from "./memory";
import { type Cache, type Decoded, type Encoded, type Gates, padded } from "./passes";
import { dataStart } from "./safetensors";

const SPARE = 2 ** 22; // bytes that the rest of a model and a first translation take

/**
 * A model whose weights lie in the engine's memory. One translation at a time uses it, within
 * `heap.scoped`.
 */
export class Transformer {
  readonly heap: Heap;
  private readonly inner: number;
  private positionsAt = 0;

  private constructor(
    readonly config: ModelConfig,
    private readonly exports: Exports,
  ) {
    this.heap = new Heap(exports);
    this.inner = config.decoder_heads * headSize(config, config.decoder_heads);
  }

  /**
   * The model of `config` with the weights of a safetensors file; `fill` writes the file's `size`
   * bytes into what it is given, so that no second copy of them is ever held.
   */
  static async load(
    module: WebAssembly.Module,
    config: ModelConfig,
    size: number,
    fill: (file: Uint8Array) => Promise<void> | void,
  ): Promise<Transformer> {
    // At once: the answer to a promise would wait for tokenizers, and the weights for this memory.
    const instance = new WebAssembly.Instance(module, {});
    const model = new Transformer(config, instance.exports as unknown as Exports);
    const place = model.heap.roomy(size + 16, SPARE);
    const { buffer } = model.exports.memory;
    await fill(new Uint8Array(buffer, place, size));
    const shift = -dataStart(new Uint8Array(buffer, place, size)) & 15;
    // numbers at multiples of 16
    if (shift) new Uint8Array(buffer).copyWithin(place + shift, place, place + size);
    model.positionsAt = loadWeights(model.heap, config, place + shift, size);
    return model;
  }

  /** Bytes that the engine holds. */
  get bytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** What is added to the vectors of source tokens, [max_positions, d_model]. */
  get positions(): Float32Array {
    const { max_positions, d_model } = this.config;
    return this.heap.floats(this.positionsAt, max_positions * d_model).slice();
  }

  /**
   * Read a source (its end token included); what it takes is given back by the caller's
   * `heap.scoped`.
   *
   * `record`, unless it is 0, takes what this pass leaves for others (`Record` in
   * web/engine/engine.h).
   */
  encode(srcIds: readonly number[], gates: Gates = {}, record = 0): Encoded {
    const { config, heap, exports } = this;
    const ids = padded(srcIds, config);
    const S = ids.length;
    const keep = this.keep(srcIds);
    const [L, H] = [config.encoder_layers, config.encoder_heads];
    const source = heap.numbers(config.decoder_layers * S * 2 * this.inner);
    const weights = heap.scoped(() => {
      const x = heap.numbers(S * config.d_model);
      const maps = heap.numbers(L * H * S * S);
      const factors = gates.encoder ? heap.putFloats(gates.encoder) : 0;
      exports.embed(0, heap.putWhole(ids), 1, S, 0, x);
      this.check(exports.encode(x, 1, S, 0, keep, factors, maps, record, 0));
      exports.start(x, 1, S, source);
      return heap.floats(maps, L * H * S * S).slice();
    });
    return { length: S, weights, source, keep };
  }

  /** A cache for `rows` hypotheses of one source, at most `capacity` steps. */
  start(encoded: Encoded, capacity: number, rows = 1, gates: Gates = {}): Cache {
    const { config, heap } = this;
    if (capacity > config.max_positions)
      throw new Refusal(`the model has ${config.max_positions} positions, not ${capacity}`);
    const heads = config.decoder_layers * config.decoder_heads;
    const size = config.decoder_layers * rows * capacity * 2 * this.inner;
    const room = (values?: Float32Array) => (values ? heap.numbers(rows * values.length) : 0);
    return {
      rows: 1,
      length: 0,
      capacity,
      encoded,
      past: heap.numbers(size),
      spare: rows > 1 ? heap.numbers(size) : 0,
      x: heap.numbers(rows * config.d_model),
      ids: heap.numbers(rows),
      own: heap.numbers(heads * rows * capacity),
      cross: heap.numbers(heads * rows * encoded.length),
      logits: heap.numbers(rows * config.tgt_vocab),
      gates: {
        given: gates,
        decoder: room(gates.decoder),
        cross: room(gates.cross),
        ofRows: 0,
      },
    };
  }

  /**
   * Read one more id of each hypothesis. Log-probabilities in nats, [B, V], good until the next
   * step; the weights that were read by are to be had from `rowsRead`.
   */
  step(ids: readonly number[], cache: Cache): Float32Array {
    const { exports, config, heap } = this;
    const B = ids.length;
    if (cache.length >= cache.capacity)
      throw new Refusal(`the cache holds ${cache.capacity} steps and is full`);
    this.spreadGates(cache, B);
    heap.setWhole(cache.ids, ids);
    exports.embed(1, cache.ids, B, 1, cache.length, cache.x);
    const { encoded } = cache;
    this.check(
      exports.decode(
        cache.x,
        B,
        1,
        cache.length,
        0,
        cache.past,
        cache.capacity,
        encoded.source,
        1,
        encoded.length,
        encoded.keep,
        cache.gates.decoder,
        cache.gates.cross,
        cache.own,
        cache.cross,
        0,
        0,
      ),
    );
    exports.project(cache.x, B, cache.logits);
    for (let b = 0; b < B; b++)
      exports.log_softmax(cache.logits + 4 * b * config.tgt_vocab, config.tgt_vocab);
    cache.rows = B;
    cache.length++;
    return heap.floats(cache.logits, B * config.tgt_vocab);
  }

  /**
   * The weights by which hypothesis `row` read at the last step: over its own tokens [L, H, T], the
   * source [L, H, S].
   */
  rowsRead(cache: Cache, row: number): { own: Float32Array; cross: Float32Array } {
    const [L, H, T, S] = [
      this.config.decoder_layers,
      this.config.decoder_heads,
      cache.length,
      cache.encoded.length,
    ];
    const pick = (place: number, width: number, count: number) => {
      const all = this.heap.floats(place, L * cache.rows * H * width);
      const out = new Float32Array(L * H * count);
      for (let l = 0; l < L; l++)
        for (let h = 0; h < H; h++) {
          const from = ((l * cache.rows + row) * H + h) * width;
          out.set(all.subarray(from, from + count), (l * H + h) * count);
        }
      return out;
    };
    return { own: pick(cache.own, cache.capacity, T), cross: pick(cache.cross, S, S) };
  }

  /** Let hypothesis i be what hypothesis rows[i] was. */
  reorder(cache: Cache, rows: readonly number[]): void {
    if (rows.length === cache.rows && rows.every((row, i) => row === i)) return;
    this.heap.scoped(() => {
      const from = this.heap.putWhole(rows);
      this.exports.reorder(
        cache.past,
        cache.rows,
        cache.capacity,
        from,
        rows.length,
        cache.length,
        cache.spare,
      );
    });
    [cache.past, cache.spare] = [cache.spare, cache.past];
    cache.rows = rows.length;
  }

  /** Entropy in nats of the distribution of hypothesis `row` at the last step. */
  entropy(cache: Cache, row: number): number {
    const vocab = this.config.tgt_vocab;
    return this.exports.entropy(cache.logits + 4 * row * vocab, vocab);
  }

  /** Force `tgtIds` and read off every map and every distribution; row t predicts tgtIds[t]. */
  decode(encoded: Encoded, tgtIds: readonly number[], gates: Gates = {}): Decoded {
    const { config, heap, exports } = this;
    const [L, H, V] = [config.decoder_layers, config.decoder_heads, config.tgt_vocab];
    const [T, S] = [tgtIds.length, encoded.length];
    return heap.scoped(() => {
      const x = heap.numbers(T * config.d_model);
      const past = heap.numbers(L * T * 2 * this.inner);
      const own = heap.numbers(L * H * T * T);
      const cross = heap.numbers(L * H * T * S);
      const [ownGates, crossGates] = [this.gates(gates.decoder), this.gates(gates.cross)];
      const reads = heap.putWhole([config.start_id, ...tgtIds.slice(0, -1)]);
      heap.floats(own, L * H * T * T).fill(0); // what lies in the future
      exports.embed(1, reads, 1, T, 0, x);
      this.check(
        exports.decode(
          x,
          1,
          T,
          0,
          0,
          past,
          T,
          encoded.source,
          1,
          S,
          encoded.keep,
          ownGates,
          crossGates,
          own,
          cross,
          0,
          0,
        ),
      );
      const logits = heap.numbers(T * V);
      exports.project(x, T, logits);
      for (let t = 0; t < T; t++) exports.log_softmax(logits + 4 * t * V, V);
      return {
        decoder: heap.floats(own, L * H * T * T).slice(),
        cross: heap.floats(cross, L * H * T * S).slice(),
        logProbs: heap.floats(logits, T * V).slice(),
      };
    });
  }

  /** Entropy in nats of log-probabilities [V]. */
  entropyOf(logProbs: Float32Array): number {
    return this.heap.scoped(() =>
      this.exports.entropy(this.heap.putFloats(logProbs), logProbs.length),
    );
  }

  /** Gates [L, H] in the engine's memory; 0 for none. */
  private gates(values: Gates["decoder"]): number {
    return values ? this.heap.putFloats(values) : 0;
  }

  /**
   * Which source tokens attention may read, as bytes in the engine's memory; 0 for all, as with
   * nearly every model.
   */
  private keep(srcIds: readonly number[]): number {
    const { masked_ids, padded_length } = this.config;
    if (padded_length !== null || !srcIds.some((id) => masked_ids.includes(id))) return 0;
    const place = this.heap.bytes(srcIds.length);
    const bytes = new Uint8Array(this.exports.memory.buffer, place, srcIds.length);
    bytes.set(srcIds.map((id) => Number(!masked_ids.includes(id))));
    return place;
  }

  /** Write the gates [L, H] of each hypothesis side by side, [L, B, H]. */
  private spreadGates(cache: Cache, rows: number): void {
    const { gates } = cache;
    if (gates.ofRows === rows) return;
    const H = this.config.decoder_heads;
    for (const kind of ["decoder", "cross"] as const) {
      const values = gates.given[kind];
      if (!values) continue;
      const out = this.heap.floats(gates[kind], values.length * rows);
      for (let at = 0; at < out.length; at++)
        out[at] = values[Math.floor(at / (rows * H)) * H + (at % H)]!;
    }
    gates.ofRows = rows;
  }

  /** Refuse where a call of the engine answers that memory ran out. */
  check(done: number): void {
    if (!done) this.heap.bytes(2 ** 32); // which says that memory ran out
  }
}
