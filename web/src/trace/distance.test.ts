import { describe, expect, it } from "vitest";
import { example } from "../test/example";
import { headDistance, mostDifferentHead } from "./distance";
import type { Slicing } from "./picture";

const a = example("de-en-in-den");
const b = example("de-en-in-dem");
const other = example("de-en-mother"); // of another length
const slicing: Slicing = { unit: "sub", specials: "shown" };

describe("the distance of two maps", () => {
  it("is nothing from a map to itself, and the same both ways", () => {
    expect(headDistance(a, a, "encoder", 0, 0, slicing)).toBe(0);
    const there = headDistance(a, b, "encoder", 1, 2, slicing)!;
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThanOrEqual(1);
    expect(headDistance(b, a, "encoder", 1, 2, slicing)).toBeCloseTo(there, 12);
  });

  it("is none where the shapes differ", () => {
    expect(headDistance(a, other, "encoder", 0, 0, slicing)).toBeNull();
  });
});

describe("the head that differs most in a row", () => {
  it("is farther apart there than every other head", () => {
    const { layers, heads, columns } = a.maps.encoder;
    const apart = (layer: number, head: number) => {
      const row = (trace: typeof a) =>
        trace.head("encoder", layer, head).subarray(2 * columns, 3 * columns);
      return row(a).reduce((sum, weight, j) => sum + Math.abs(weight - row(b)[j]) / 2, 0);
    };
    const { layer, head } = mostDifferentHead(a, b, 2)!;
    for (let l = 0; l < layers; l++)
      for (let h = 0; h < heads; h++)
        expect(apart(l, h)).toBeLessThanOrEqual(apart(layer, head) + 1e-6);
  });

  it("is none between sentences of different lengths", () => {
    expect(mostDifferentHead(a, other, 0)).toBeNull();
  });
});
