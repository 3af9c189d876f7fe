/* The engine that a page loads, with the weights behind tests/protocol: Python's numbers, and what
   holds for any model. */

import { beforeAll, describe, expect, it } from "vitest";
import forced from "../../../../tests/protocol/forced.json";
import sent from "../../../../tests/protocol/trace.json";
import { apart, fixedModel } from "../../test/engine";
import type { Decoded, Gates } from "./passes";
import type { Transformer } from "./transformer";

const SRC = sent.src.map(({ i }) => i);
const TGT = forced.ids;
const [L, H, S, T] = [2, 2, SRC.length, TGT.length];
const CLOSE = 2e-6; // stored with six decimals
const TWO_WAYS = 2e-5; // of adding up the same numbers

let model: Transformer;
let V: number;
beforeAll(async () => {
  model = await fixedModel();
  V = model.config.tgt_vocab;
});

interface Maps extends Decoded {
  encoder: Float32Array;
}
const pass = (gates: Gates = {}, by = model, src = SRC): Maps =>
  by.heap.scoped(() => {
    const encoded = by.encode(src, gates);
    return { encoder: encoded.weights, ...by.decode(encoded, TGT, gates) };
  });
/** One layer of maps [L, H, rows, columns], or of them one row a head. */
const layerOf = (maps: Float32Array, layer: number) =>
  maps.subarray((layer * maps.length) / L, ((layer + 1) * maps.length) / L);
const rowsOf = (
  maps: Float32Array,
  row: number,
  columns: number,
  width = maps.length / L / H / T,
) =>
  Array.from({ length: L * H }, (_, head) => [
    ...maps.subarray((head * T + row) * width).subarray(0, columns),
  ]).flat();
const sums = (values: Float32Array, width: number) =>
  Array.from({ length: values.length / width }, (_, row) =>
    values.subarray(row * width, (row + 1) * width).reduce((a, b) => a + b, 0),
  );
const ones = (count: number) => new Array<number>(count).fill(1);

describe("a pass over a forced target", () => {
  it.each(["encoder", "decoder", "cross"] as const)("has Python's %s maps", (kind) => {
    expect(apart(pass()[kind], forced[kind].values)).toBeLessThan(CLOSE);
  });

  it("finds each token as probable as Python does", () => {
    const { logProbs } = pass();
    const found = TGT.map((id, t) => logProbs[t * V + id]);
    expect(apart(found, forced.log_probs)).toBeLessThan(TWO_WAYS);
  });

  it("gives shares of one, of what has been", () => {
    const { encoder, decoder, cross, logProbs } = pass();
    for (const [maps, width] of [[encoder, S] as const, [decoder, T] as const, [cross, S] as const])
      expect(apart(sums(maps, width), ones(maps.length / width))).toBeLessThan(CLOSE);
    expect(apart(sums(logProbs.map(Math.exp), V), ones(T))).toBeLessThan(TWO_WAYS);
    decoder.forEach((weight, at) => {
      if (at % T > Math.floor(at / T) % T) expect(weight).toBe(0);
    });
  });

  it("takes no memory for good", () => {
    const before = model.heap.exports.mark();
    pass();
    expect(model.heap.exports.mark()).toBe(before);
  });
});

describe("token by token", () => {
  const stepping = (gates: Gates, rows: number, check: (t: number, logProbs: number[]) => void) =>
    model.heap.scoped(() => {
      const whole = pass(gates);
      const cache = model.start(model.encode(SRC, gates), T, rows, gates);
      const reads = [model.config.start_id, ...TGT];
      TGT.forEach((_, t) => {
        const many = t ? rows : 1; // all begin as one
        const all = model.step(new Array<number>(many).fill(reads[t]), cache);
        for (let row = 0; row < many; row++) {
          check(t, [...all.slice(row * V, (row + 1) * V)]);
          const { own, cross } = model.rowsRead(cache, row);
          expect(apart(own, rowsOf(whole.decoder, t, t + 1))).toBeLessThan(CLOSE);
          expect(apart(cross, rowsOf(whole.cross, t, S))).toBeLessThan(CLOSE);
        }
        if (!t) model.reorder(cache, new Array<number>(rows).fill(0));
      });
    });
  const closed: Gates = {
    encoder: Float32Array.of(1, 0, 1, 1),
    decoder: Float32Array.of(0.5, 1, 0, 1),
    cross: Float32Array.of(1, 1, 0, 2),
  };

  it.each([
    ["", {}, 1],
    [", as one of three", {}, 3],
    [", with heads closed", closed, 1],
    [", with heads closed, as one of three", closed, 3],
  ] as const)("it reads and says what the whole pass does%s", (_, gates, rows) => {
    const { logProbs } = pass(gates);
    stepping(gates, rows, (t, found) => {
      expect(apart(found, logProbs.subarray(t * V, (t + 1) * V))).toBeLessThan(TWO_WAYS);
    });
  });

  it("hypotheses that go apart keep to their own past, in any order", () => {
    model.heap.scoped(() => {
      const encoded = model.encode(SRC);
      const whole = (ids: number[]) => {
        const { logProbs, cross } = model.decode(encoded, ids);
        const last = cross.filter((_, at) => Math.floor(at / S) % ids.length === ids.length - 1);
        return { logProbs: logProbs.slice(-V), cross: last };
      };
      const cache = model.start(encoded, T, 2);
      model.step([model.config.start_id], cache);
      model.reorder(cache, [0, 0]);
      model.step([290, 263], cache);
      model.reorder(cache, [1, 0]);
      const found = model.step([300, 301], cache).slice();
      for (const [row, ids] of [
        [263, 300, 2],
        [290, 301, 2],
      ].entries()) {
        // prettier-ignore
        const { logProbs, cross } = whole(ids);
        expect(apart(found.subarray(row * V).subarray(0, V), logProbs)).toBeLessThan(TWO_WAYS);
        expect(apart(model.rowsRead(cache, row).cross, cross)).toBeLessThan(TWO_WAYS);
      }
    });
  });

  it("it is as uncertain as its distribution is", () =>
    model.heap.scoped(() => {
      const cache = model.start(model.encode(SRC), 1);
      const logProbs = model.step([model.config.start_id], cache).slice();
      const entropy = -logProbs.reduce((sum, each) => sum + Math.exp(each) * each, 0);
      expect(model.entropy(cache, 0)).toBeCloseTo(entropy, 4);
      expect(model.entropyOf(logProbs)).toBeCloseTo(entropy, 4);
      expect(model.entropyOf(new Float32Array(8).fill(-Math.log(8)))).toBeCloseTo(Math.log(8), 5);
    }));

  it("it goes no further than there is room, and no further than the model has positions", () =>
    model.heap.scoped(() => {
      const encoded = model.encode(SRC);
      const cache = model.start(encoded, 1);
      model.step([1], cache);
      expect(() => model.step([5], cache)).toThrow("the cache holds 1 steps and is full");
      expect(() => model.start(encoded, 201)).toThrow("the model has 200 positions, not 201");
    }));
});

describe("gates", () => {
  const none = (head: number) =>
    Float32Array.from({ length: L * H }, (_, at) => Number(at !== head));
  const same = (a: Maps, b: Maps, kind: "encoder" | "decoder" | "cross", layer: number) =>
    apart(layerOf(a[kind], layer), layerOf(b[kind], layer)) === 0;

  it("that are all open change nothing", () => {
    const open = new Float32Array(L * H).fill(1);
    expect(pass({ encoder: open, decoder: open, cross: open })).toEqual(pass());
  });

  it.each<[kind: "encoder" | "decoder" | "cross", what: string]>([
    ["encoder", "the encoder's next layer, and all that reads the source"],
    ["decoder", "what comes after it in its own layer"],
    ["cross", "the next layer"],
  ])("that close one head of the first %s layer change %s", (kind) => {
    const [before, after] = [pass(), pass({ [kind]: none(1) })];
    const kept = (maps: "encoder" | "decoder" | "cross") =>
      [0, 1].map((layer) => same(before, after, maps, layer));
    expect(kept("encoder")).toEqual([true, kind !== "encoder"]);
    expect(kept("decoder")).toEqual([true, false]);
    expect(kept("cross")).toEqual([kind === "cross", false]);
    expect(apart(before.logProbs, after.logProbs)).toBeGreaterThan(0.01);
  });

  it("that close the last head of all leave every map, and change what is said", () => {
    const [before, after] = [pass(), pass({ cross: none(L * H - 1) })];
    expect({ ...after, logProbs: null }).toEqual({ ...before, logProbs: null });
    expect(apart(before.logProbs, after.logProbs)).toBeGreaterThan(0.01);
  });
});

describe("a source", () => {
  it("is read without the tokens that the model masks", async () => {
    const { encoder, cross } = pass({}, await fixedModel({ masked_ids: [SRC[1]] }));
    const masked = [...encoder, ...cross].filter((_, at) => SRC[at % S] === SRC[1]);
    expect(masked.length).toBeGreaterThan(0);
    expect(masked.every((weight) => weight === 0)).toBe(true);
    expect(apart(sums(cross, S), ones(cross.length / S))).toBeLessThan(CLOSE);
  });

  it("gets the padding that a model of one length reads", async () => {
    const padded = await fixedModel({ padded_length: 12 });
    const { pad_id } = padded.config;
    const found = pass({}, padded);
    expect(found.cross).toHaveLength(L * H * T * 12);
    expect(found).toEqual(pass({}, model, [...SRC, pad_id, pad_id]));
  });

  it("has places that sines and cosines tell apart", () => {
    const { positions } = model;
    expect(positions).toHaveLength(200 * 16);
    for (const place of [0, 1, 7, 199])
      for (const [at, rate] of [[0, 1] as const, [6, 1e4 ** (-6 / 16)] as const]) {
        expect(positions[place * 16 + at]).toBeCloseTo(Math.sin(place * rate), 5);
        expect(positions[place * 16 + at + 1]).toBeCloseTo(Math.cos(place * rate), 5);
      }
  });
});
