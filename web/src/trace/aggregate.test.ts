import { describe, expect, it } from "vitest";
import { FIRST_STATE } from "../state/view";
import { example } from "../test/example";
import {
  AGGREGATES,
  aggregateHeads,
  aggregateName,
  aggregates,
  mapOf,
  rowsAlike,
} from "./aggregate";

const trace = example();
const { layers, heads } = trace.maps.cross;
const state = { ...FIRST_STATE, layer: 2, head: 3, view: "aggregate" as const };

describe("heads of an aggregate", () => {
  it("are a layer's, one head's over the layers, all, or those chosen by hand", () => {
    const of = (which: string, overlay: [number, number][] = []) =>
      aggregateHeads(trace, { ...state, overlay }, which);
    expect(of("layer")).toEqual(Array.from({ length: heads }, (_, head) => [2, head]));
    expect(of("head")).toEqual(Array.from({ length: layers }, (_, layer) => [layer, 3]));
    expect(of("all")).toHaveLength(layers * heads);
    expect(of("chosen")).toEqual([[2, 3]]);
    expect(of("chosen", [[0, 1]])).toEqual([[0, 1]]);
  });
});

describe("the map that a state shows", () => {
  it("is one head's outside of aggregates", () => {
    expect(mapOf(trace, { ...state, view: "heatmap" })).toEqual(trace.head("cross", 2, 3));
  });

  it("is the mean or the largest of its heads, cell by cell", () => {
    const cell = (aggregate: string) => mapOf(trace, { ...state, aggregate })[5];
    const each = Array.from({ length: heads }, (_, head) => trace.head("cross", 2, head)[5]);
    expect(cell("layer-max")).toBeCloseTo(Math.max(...each), 6);
    expect(cell("layer-mean")).toBeCloseTo(each.reduce((a, b) => a + b) / heads, 6);
  });

  it("is the encoder's rollout, which no other kind has", () => {
    const rolled = mapOf(trace, { ...state, kind: "encoder", aggregate: "rollout" });
    expect(rolled).toBe(trace.rolled);
    const cross = mapOf(trace, { ...state, aggregate: "rollout" });
    expect(cross).toEqual(mapOf(trace, { ...state, aggregate: "layer-mean" }));
  });

  it("is empty until contributions come", () => {
    const { rows, columns } = trace.maps.cross;
    expect(mapOf(trace, { ...state, aggregate: "alti" })).toEqual(new Float32Array(rows * columns));
  });
});

describe("names of aggregates", () => {
  it("are all offered where contributions can be had", () => {
    expect(aggregates(true)).toHaveLength(AGGREGATES.length);
    expect(aggregates(false).map(([value]) => value)).not.toContain("alti");
    expect(aggregateName("all-max")).toBe("maximum of all heads");
  });
});

describe("rows", () => {
  it("are alike where each is nearly the mean of them", () => {
    expect(rowsAlike(Float32Array.of(0.5, 0.5, 0.45, 0.55), 2)).toBe(true);
    expect(rowsAlike(Float32Array.of(1, 0, 0, 1), 2)).toBe(false);
  });
});
