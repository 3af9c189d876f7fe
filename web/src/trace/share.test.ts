import { describe, expect, it } from "vitest";
import { SPECIAL } from "../protocol/flags";
import { KINDS } from "../protocol/messages";
import { example } from "../test/example";
import { piecesOf, shareOn, specialShares } from "./share";

describe("shares of the weight", () => {
  const trace = example();

  it("are one for all keys, and none for no key", () => {
    for (const kind of KINDS) {
      const map = trace.head(kind, 1, 2);
      const keys = trace.keys(kind);
      const flags = keys.map(({ f }) => f);
      keys.forEach((key) => (key.f = 1));
      expect(shareOn(trace, kind, map, 1)).toBeCloseTo(1, 3);
      keys.forEach((key) => (key.f = 0));
      expect(shareOn(trace, kind, map, 1)).toBe(0);
      keys.forEach((key, n) => (key.f = flags[n]));
    }
  });

  it("of special tokens are the mean over all heads", () => {
    const { layers, heads, rows, columns, values } = trace.maps.cross;
    let sum = 0;
    values.forEach((weight, at) => {
      if (trace.src[at % columns].f & SPECIAL) sum += weight;
    });
    expect(specialShares(trace).cross).toBeCloseTo(sum / (layers * heads * rows), 6);
  });
});

it("a text in pieces is its words, without what is special", () => {
  const trace = example();
  const words = piecesOf(trace);
  const known = trace.src.filter(({ f }) => !(f & SPECIAL));
  expect(words.flat().map(({ s }) => s)).toEqual(known.map(({ s }) => s));
  expect(words).toHaveLength(new Set(known.map(({ w }) => w)).size);
  expect(words.some((pieces) => pieces.length > 1)).toBe(true);
});
