import { describe, expect, it } from "vitest";
import type { ModelConfig } from "../engine/config";
import { USUAL } from "./config";
import {
  NOTHING,
  type Produced,
  bannedIds,
  bannedNext,
  best,
  checkSource,
  checkTarget,
  extend,
} from "./steps";

const config = {
  pad_id: 0,
  start_id: 1,
  eos_id: 2,
  banned_ids: null,
  banned_sequences: [[4, 5]],
  padded_length: null,
  max_positions: 10,
} as unknown as ModelConfig;

describe("the best of a distribution", () => {
  it("are the largest, best first, among equals the first", () => {
    expect(best(Float32Array.of(1, 3, 2, 3), 3)).toEqual([
      [1, 3],
      [3, 3],
      [2, 2],
    ]);
    expect(best(Float32Array.of(1, 2), 5)).toHaveLength(2);
  });

  it("are those of a sort, of any numbers", () => {
    const values = Float32Array.from({ length: 200 }, (_, i) => Math.sin(i * i));
    const sorted = [...values.keys()].sort((a, b) => values[b]! - values[a]!).slice(0, 8);
    expect(best(values, 8).map(([id]) => id)).toEqual(sorted);
  });
});

describe("a hypothesis", () => {
  it("grows by a token, its log-probability and what its step read", () => {
    const how = (logProb: number): Produced => ({
      ...{ logProb, entropy: 0, candidates: [] },
      ...{ own: new Float32Array(0), cross: new Float32Array(0) },
    });
    const one = extend(NOTHING, 7, -0.5, how(-0.5), [0.25, 0.75]);
    const two = extend(one, 8, 0, how(-1), [0.5, 0.5]);
    expect(two).toMatchObject({ ids: [7, 8], logProbs: [-0.5, 0], score: -0.5 });
    expect(two.produced.map(({ logProb }) => logProb)).toEqual([-0.5, -1]);
    expect(two.coverage).toEqual([0.75, 1.25]);
    expect(NOTHING.ids).toEqual([]);
  });
});

describe("what must not come next", () => {
  it("is padding and the start, or what the checkpoint names", () => {
    expect(bannedIds(config)).toEqual([0, 1]);
    expect(bannedIds({ ...config, banned_ids: [9] })).toEqual([9]);
    expect(bannedIds({ ...config, start_id: 2 })).toEqual([0]); // what ends a sentence may come
  });

  it("is what would complete a banned or a repeated sequence", () => {
    expect(bannedNext(config, USUAL, [3, 4])).toEqual([5]);
    const thrice = { ...USUAL, no_repeat_ngram_size: 3 };
    expect(bannedNext(config, thrice, [6, 7, 8, 6, 7])).toEqual([8]);
    expect(bannedNext(config, thrice, [6, 7])).toEqual([]);
  });

  it("is the end while there are too few tokens", () => {
    const least = { ...config, min_length: 2 } as ModelConfig;
    expect(bannedNext(least, USUAL, [6])).toEqual([2]);
    expect(bannedNext(least, USUAL, [6, 7])).toEqual([]);
  });
});

describe("what the model cannot read or write", () => {
  it.each([[[]], [new Array<number>(11).fill(5)]])("is a source of %j", (ids) => {
    expect(() => checkSource(config, ids)).toThrow(`the source has ${ids.length} tokens`);
  });

  it.each<[number[], number, string]>([
    [[], 0, "the target may have 0 tokens"],
    [[], 11, "the target may have 11 tokens"],
    [[5, 6, 7], 2, "the prefix has 3 tokens"],
    [[2, 5], 5, "goes on after its end-of-sentence token"],
    [[5, 1], 5, "holds id 1"],
  ])("is a prefix of %j in %i tokens", (ids, most, why) => {
    expect(() => checkTarget(config, ids, most)).toThrow(why);
  });

  it("is nothing else", () => {
    checkSource(config, [5]);
    checkTarget(config, [5, 6, 2], 3);
  });
});
