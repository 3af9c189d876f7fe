import { describe, expect, it } from "vitest";
import { SPECIAL } from "../protocol/flags";
import { KINDS } from "../protocol/messages";
import { example } from "../test/example";
import { mapOf } from "./aggregate";
import { slice, strongest } from "./picture";

const trace = example();
const sum = (row: number[]) => row.reduce((a, b) => a + b, 0);

describe("a translation", () => {
  it.each(KINDS)("%s: every row of every head sums to 1", (kind) => {
    const { layers, heads, rows, columns } = trace.maps[kind];
    for (let l = 0; l < layers; l++)
      for (let h = 0; h < heads; h++) {
        const map = trace.head(kind, l, h);
        for (let i = 0; i < rows; i++)
          expect(sum([...map.subarray(i * columns, (i + 1) * columns)])).toBeCloseTo(1, 3);
      }
  });

  it("reads the start, then what it wrote", () => {
    expect(trace.reads[0]).toBe(trace.start);
    expect(trace.reads.slice(1)).toEqual(trace.tgt.slice(0, -1));
  });
});

describe("slice", () => {
  const map = trace.head("cross", 2, 4);

  it("of subwords is the map itself", () => {
    const { z } = slice(trace, "cross", map, { unit: "sub", specials: "shown" });
    expect(z.flat()).toEqual([...map]);
  });

  it("of words keeps a row's whole weight", () => {
    const { z, rows, columns } = slice(trace, "cross", map, { unit: "word", specials: "shown" });
    expect(rows.length).toBe(new Set(trace.words!.tgt.g).size);
    expect(columns.length).toBe(new Set(trace.words!.src.g).size);
    for (const row of z) expect(sum(row)).toBeCloseTo(1, 3);
  });

  it("without specials tells what is hidden, and scaled sums to 1 again", () => {
    const hidden = slice(trace, "cross", map, { unit: "sub", specials: "hidden" });
    const lost = trace.src.flatMap((token, j) => (token.f & SPECIAL ? [j] : []));
    const share = hidden.rows.map((_, i) => sum(lost.map((j) => map[i * trace.src.length + j])));
    expect(hidden.hidden).toBeCloseTo(sum(share) / share.length, 4);
    const scaled = slice(trace, "cross", map, { unit: "sub", specials: "renormalised" });
    for (const row of scaled.z) expect(sum(row)).toBeCloseTo(1, 6);
  });

  it("of the decoder masks the future, by words too", () => {
    const decoder = trace.head("decoder", 0, 0);
    for (const unit of ["sub", "word"] as const) {
      const { z, rows, columns, masked } = slice(trace, "decoder", decoder, {
        unit,
        specials: "shown",
      });
      rows.forEach((_, i) =>
        columns.forEach((_, j) => {
          if (masked(i, j)) expect(z[i][j]).toBe(0);
        }),
      );
      expect(masked(0, columns.length - 1)).toBe(true);
    }
  });
});

describe("strongest", () => {
  it("gives the largest first, and places where a text stands twice", () => {
    const group = (text: string, id: number) => ({
      ids: [id],
      text,
      special: false,
      unknown: false,
    });
    const columns = [group("the", 0), group("cat", 1), group("the", 2)];
    const z = [[0.2, 0.5, 0.3]];
    const picture = { rows: [group("x", 0)], columns, z, masked: () => false, hidden: 0 };
    expect(strongest(picture, 0, 2).map(({ text, position }) => text + position)).toEqual([
      "cat",
      "the3",
    ]);
  });
});

describe("mapOf", () => {
  const state = { kind: "cross" as const, layer: 1, head: 3, view: "aggregate", overlay: [] };

  it("means and maxima are those of the heads", () => {
    const { heads } = trace.maps.cross;
    const mean = mapOf(trace, { ...state, aggregate: "layer-mean" });
    const most = mapOf(trace, { ...state, aggregate: "layer-max" });
    const maps = Array.from({ length: heads }, (_, h) => trace.head("cross", 1, h));
    for (let i = 0; i < mean.length; i++) {
      expect(mean[i]).toBeCloseTo(sum(maps.map((map) => map[i])) / heads, 5);
      expect(most[i]).toBe(Math.max(...maps.map((map) => map[i])));
    }
  });

  it("of chosen heads is the present one's where none is chosen", () => {
    expect(mapOf(trace, { ...state, aggregate: "chosen-mean" })).toEqual(trace.head("cross", 1, 3));
  });
});
