/* Measures of heads that are known by how they were made. */

import { describe, expect, it } from "vitest";
import { makeToken, type Token } from "../text/tokenizer";
import { headStats, leadingHead, type Maps, selfRollout } from "./heads";

const token = (surface: string, at: number): Token =>
  makeToken(at, surface, { word: at, special: surface.startsWith("<") });
const KEYS = ["the", "old", "house", ".", "</s>"].map(token);
const N = KEYS.length;
const all = { owners: KEYS, queries: KEYS, keys: KEYS };

/** One head that in each row looks at one place. */
const looking = (at: (row: number) => number): number[] =>
  KEYS.flatMap((_, row) => KEYS.map((_, key) => Number(key === at(row))));
const mapsOf = (...heads: number[][]): Maps => ({
  values: Float32Array.from(heads.flat()),
  shape: [1, heads.length, N, N],
});
const even = KEYS.flatMap(() => KEYS.map(() => 1 / N));
const stats = (...heads: number[][]) => headStats("encoder", mapsOf(...heads), all);

describe("a head", () => {
  it("that looks at the token before is one, in every row that has one", () => {
    const found = stats(looking((row) => Math.max(row - 1, 0)));
    expect(found.previous).toEqual([1]);
    expect(found.same).toEqual([0.25]); // the first row of four: special rows do not count
    expect([found.role, found.confidence]).toEqual([["previous"], [1]]);
    expect(found.entropy[0]).toBeCloseTo(0, 6);
    expect(found.distance[0]).toBe(0.75);
  });

  it("that looks everywhere is diffuse, with the entropy of chance", () => {
    const found = stats(even);
    expect(found.entropy[0]).toBeCloseTo(Math.log(N), 5);
    expect(found.relative_entropy[0]).toBeCloseTo(1, 5);
    expect(found.confidence[0]).toBeCloseTo(1 / N, 5);
    expect(found.role).toEqual(["diffuse"]);
  });

  it("that looks at the end and at signs is a sink, and by how much", () => {
    const found = stats(looking((row) => 3 + (row % 2)));
    expect([found.special, found.punctuation, found.role]).toEqual([[0.5], [0.5], ["sink"]]);
    expect(found.on_content).toEqual([0]);
  });

  it("stands beside others with its own measures", () => {
    const [one, two] = [looking((row) => row), even];
    const both = stats(one, two);
    for (const [name, values] of Object.entries(both))
      expect(values).toEqual([...[one, two].flatMap((head) => stats(head)[name as "role"])]);
  });

  it("of a decoder is judged by what it can see", () => {
    const visible = KEYS.flatMap((_, row) =>
      KEYS.map((_, key) => (key <= row ? 1 / (row + 1) : 0)),
    );
    expect(headStats("decoder", mapsOf(visible), all).relative_entropy[0]).toBeCloseTo(1, 5);
  });

  it("of cross-attention aligns where words look at words of their own", () => {
    const found = headStats("cross", mapsOf(looking((row) => row)), all);
    expect(found.role).toEqual(["aligns"]);
    expect(found.distinct).toEqual([1]);
    const one = headStats("cross", mapsOf(looking(() => 1)), all);
    expect(one.distinct[0]).toBeCloseTo(1 / 3);
    expect(one.role).toEqual(["mixed"]);
  });

  it("of cross-attention follows the rates of its checkpoint", () => {
    const profile = { rates: [0.9], readings: ["output"] } as never;
    const maps = mapsOf(looking((row) => row));
    expect(headStats("cross", maps, all, profile).role).toEqual(["mixed"]);
  });
});

describe("the head to look at first", () => {
  const found = headStats(
    "cross",
    {
      ...mapsOf(
        even,
        looking((row) => row),
        even,
        looking((row) => row),
      ),
      shape: [2, 2, N, N],
    },
    all,
  );
  it("is the first that aligns", () => expect(leadingHead(found, 2)).toEqual([0, 1]));
  it("is, of those that align, the one with fewest errors", () =>
    expect(leadingHead(found, 2, [0.1, 0.4, 0.1, 0.3])).toEqual([1, 1]));
  it("is the clearest where none aligns", () => {
    const none = { ...found, role: found.role.map(() => "mixed" as const) };
    expect(leadingHead(none, 2)).toEqual([0, 1]);
  });
});

describe("what flows through all layers", () => {
  const rolled = (...layers: number[][]) =>
    selfRollout({ values: Float32Array.from(layers.flat()), shape: [layers.length, 1, N, N] });

  it("stays where it is if every layer looks at itself", () => {
    expect([
      ...rolled(
        looking((row) => row),
        looking((row) => row),
      ),
    ]).toEqual(looking((row) => row));
  });

  it("goes half of the way in each layer, in their order", () => {
    // first from 1 to 0, then from 2 to 1
    const [first, second] = [
      looking((row) => (row === 1 ? 0 : row)),
      looking((row) => (row === 2 ? 1 : row)),
    ];
    const found = rolled(first, second);
    expect([...found.slice(2 * N, 2 * N + 3)]).toEqual([0.25, 0.25, 0.5]);
    expect([...rolled(second, first).slice(2 * N, 2 * N + 3)]).toEqual([0, 0.5, 0.5]);
  });

  it("takes the mean of a layer's heads, and keeps shares of one", () => {
    const values = Float32Array.from([...even, ...looking(() => 0)]);
    const found = selfRollout({ values, shape: [1, 2, N, N] });
    for (let row = 0; row < N; row++)
      expect(found.slice(row * N, (row + 1) * N).reduce((a, b) => a + b)).toBeCloseTo(1, 6);
    expect(found[N]).toBeCloseTo(0.5 * ((1 + 1 / N) / 2), 6);
  });
});
