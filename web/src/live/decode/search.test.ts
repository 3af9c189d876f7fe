/* Searches over the model behind tests/protocol, against passes over whole targets. */

import { beforeAll, describe, expect, it } from "vitest";
import sent from "../../../../tests/protocol/trace.json";
import { apart, fixedModel } from "../../test/engine";
import type { Transformer } from "../engine/transformer";
import { penalty } from "./beam";
import { type DecodeConfig, USUAL } from "./config";
import { search } from "./search";
import { bannedIds, type Beam, best } from "./steps";

const SRC = sent.src.map(({ i }) => i);
const EOS = 2;

let model: Transformer;
let V: number;
let free: number[]; // ids that may be chosen
beforeAll(async () => {
  model = await fixedModel();
  V = model.config.tgt_vocab;
  const never = bannedIds(model.config);
  free = Array.from({ length: V }, (_, id) => id).filter((id) => !never.includes(id));
});

interface More {
  maxLength?: number;
  prefix?: number[];
}
/** What a search found, and of each step what led and was considered. */
const run = (config: Partial<DecodeConfig>, { maxLength = 12, prefix = [] }: More = {}) =>
  model.heap.scoped(() => {
    const whole = { ...USUAL, ...config };
    const asked = { config: whole, srcIds: SRC, maxLength, prefix, gates: {}, spans: null };
    const steps: { ids: readonly number[]; beams: readonly Beam[] }[] = [];
    const searching = search(model, model.encode(SRC), asked);
    for (;;) {
      const { done, value } = searching.next();
      if (done) return { ...value, steps };
      steps.push({ ids: value.ids, beams: value.beams });
    }
  });

/** Rows of log-probabilities along a target, and what was read meanwhile. */
const along = (ids: readonly number[]) =>
  model.heap.scoped(() => {
    const { logProbs, cross } = model.decode(model.encode(SRC), ids);
    return { rows: ids.map((_, t) => logProbs.slice(t * V, (t + 1) * V)), cross };
  });
const scoreOf = (ids: readonly number[]) => {
  const { rows } = along(ids);
  return ids.reduce((sum, id, t) => sum + rows[t][id], 0);
};
/** Always the most probable, each by a pass over all that came before. */
const greedily = (most: number): number[] => {
  const ids: number[] = [];
  while (ids.length < most && ids.at(-1) !== EOS) {
    const row = along([...ids, EOS]).rows.at(-1)!;
    ids.push(free.reduce((a, b) => (row[b] > row[a] ? b : a)));
  }
  return ids;
};

describe("greedy search", () => {
  it("takes what is most probable, token by token", () => {
    const { ids, score, truncated, steps } = run({ method: "greedy" });
    expect(ids).toEqual(greedily(12));
    expect(score).toBeCloseTo(scoreOf(ids), 4);
    expect(truncated).toBe(ids.at(-1) !== EOS);
    expect(steps.map((step) => step.ids)).toEqual(ids.map((_, t) => ids.slice(0, t + 1)));
  });

  it("is a beam of one, and a sample without a choice", () => {
    const { ids } = run({ method: "greedy" });
    for (const same of [
      { method: "beam", beam: 1 },
      { method: "sample", top_k: 1, seed: 3 },
      { method: "sample", top_p: 1e-6, seed: 3 },
      { method: "sample", temperature: 1e-3, seed: 3 },
    ] as const)
      expect(run(same).ids).toEqual(ids);
  });
});

describe("beam search", () => {
  const beam = { method: "beam", beam: 3, length_penalty: 0.6 } as const;

  it("scores by the sum of its log-probabilities, of every hypothesis at every step", () => {
    const { ids, score, steps } = run(beam);
    expect(score).toBeCloseTo(scoreOf(ids), 4);
    for (const each of steps.flatMap(({ beams }) => beams)) {
      expect(each.score).toBeCloseTo(scoreOf(each.ids), 4);
      const divided = each.score / penalty(each.ids.length, { ...USUAL, ...beam });
      expect(each.normalised).toBeCloseTo(divided, 6);
    }
  });

  it("goes on with the best continuations of all that live", () => {
    const { steps } = run(beam);
    expect(steps.length).toBeGreaterThan(1);
    steps.slice(1).forEach(({ beams }, at) => {
      const live = steps[at].beams.filter(({ ended }) => !ended);
      const totals = live.flatMap(({ ids, score }) => {
        const row = along([...ids, EOS]).rows.at(-1)!;
        return free.map((id) => score + row[id]);
      });
      const best = totals.sort((a, b) => b - a).slice(0, 3);
      expect(
        apart(
          beams.slice(0, 3).map(({ score }) => score),
          best,
        ),
      ).toBeLessThan(1e-4);
    });
  });

  it("as wide as the vocabulary finds the best of all", () => {
    for (const length_penalty of [-1, 0.6, 3]) {
      const config = { ...USUAL, ...beam, beam: free.length, length_penalty };
      const ends = free.flatMap((first) => {
        const { rows } = along([first, EOS]);
        if (first === EOS) return [{ ids: [EOS], score: rows[0][EOS] }];
        return free.map((id) => ({ ids: [first, id], score: rows[0][first] + rows[1][id] }));
      });
      const worth = ({ ids, score }: (typeof ends)[0]) => score / penalty(ids.length, config);
      const want = ends.reduce((a, b) => (worth(b) > worth(a) ? b : a));
      expect(run(config, { maxLength: 2 }).ids).toEqual(want.ids);
    }
  });

  it("counts what of the source was not read", () => {
    const config = { ...beam, coverage_penalty: 0.7, coverage_heads: [[1, 0]] as const };
    const { steps } = run(config, { maxLength: 4 });
    for (const { ids, score, normalised } of steps.flatMap(({ beams }) => beams)) {
      const { cross } = along(ids);
      const [T, S] = [ids.length, SRC.length];
      let covered = 0;
      for (let s = 0; s < S - 1; s++) {
        let read = 0;
        for (let t = 0; t < T; t++) read += cross[(2 * T + t) * S + s];
        covered += Math.log(Math.min(Math.max(read, 1e-9), 1));
      }
      const want = score / penalty(T, { ...USUAL, ...config }) + 0.7 * covered;
      expect(normalised).toBeCloseTo(want, 3);
    }
  });
});

const METHODS = [{ method: "greedy" }, { method: "beam", beam: 3 }, { method: "sample", seed: 5 }];
describe.each(METHODS as Partial<DecodeConfig>[])("whatever the method ($method)", (method) => {
  it("what must not come never does", () => {
    for (let seed = 0; seed < 5; seed++)
      for (const id of run({ ...method, seed }).ids) expect(free).toContain(id);
  });

  it("no stretch comes twice where that is asked", () => {
    const flat = { ...method, temperature: 3 };
    for (const size of [1, 2]) {
      const { ids } = run({ ...flat, no_repeat_ngram_size: size }, { maxLength: 30 });
      const grams = ids.slice(size - 1).map((_, at) => ids.slice(at, at + size).join());
      expect(new Set(grams).size).toBe(grams.length);
    }
  });

  it("the limit of length holds", () => {
    const never = { ...method, no_repeat_ngram_size: 1 };
    for (const maxLength of [1, 2, 3]) {
      const { ids, truncated } = run(never, { maxLength });
      expect(ids.length).toBeLessThanOrEqual(maxLength);
      expect(truncated).toBe(ids.at(-1) !== EOS);
      const forced = run({ ...never, force_eos: true }, { maxLength });
      expect(forced.ids.length).toBeLessThanOrEqual(maxLength);
      expect(forced.ids.at(-1)).toBe(EOS);
    }
  });

  it("it goes on from what it must begin with", () => {
    const prefix = [287, 297, 295];
    const { ids, steps, score } = run(method, { prefix });
    expect(ids.slice(0, 3)).toEqual(prefix);
    expect(ids.length).toBeGreaterThan(3);
    expect(steps[2].ids).toEqual(prefix);
    expect(score).toBeCloseTo(scoreOf(ids), 4);
    const ended = run(method, { prefix: [287, EOS] });
    expect([ended.ids, ended.truncated]).toEqual([[287, EOS], false]);
    expect(run(method, { prefix, maxLength: 3 }).truncated).toBe(true);
  });

  it("it begins with the token that every translation begins with", () => {
    expect(run({ ...method, first_id: 300 }).ids[0]).toBe(300);
  });

  it("a prefix that cannot be is refused", () => {
    expect(() => run(method, { prefix: [1] })).toThrow("the prefix holds id 1");
    expect(() => run(method, { maxLength: 201 })).toThrow("the target may have 201 tokens");
  });
});

describe("a sample", () => {
  const first = (config: Partial<DecodeConfig>) =>
    run({ method: "sample", ...config }, { maxLength: 1 }).ids[0];
  const drawn = (config: Partial<DecodeConfig>) =>
    new Set(Array.from({ length: 60 }, (_, seed) => first({ ...config, seed })));

  it("is the same for the same seed, and another for others", () => {
    const of = (seed: number) => run({ method: "sample", seed }).ids.join();
    expect(of(1)).toBe(of(1));
    expect(new Set([1, 2, 3, 4].map(of)).size).toBeGreaterThan(1);
  });

  it("is one of the most probable where only they may be drawn", () => {
    const row = along([EOS]).rows[0].map((value, id) => (free.includes(id) ? value : -Infinity));
    const ranked = best(row, V).map(([id]) => id);
    expect(drawn({ top_k: 3 })).toEqual(new Set(ranked.slice(0, 3)));
    const total = free.reduce((sum, id) => sum + Math.exp(row[id]), 0);
    const share = (count: number) =>
      ranked.slice(0, count).reduce((sum, id) => sum + Math.exp(row[id]) / total, 0);
    const nucleus = 1 + ranked.findIndex((_, at) => share(at + 1) >= 0.3);
    expect(drawn({ top_p: 0.3 })).toEqual(new Set(ranked.slice(0, nucleus)));
  });
});
