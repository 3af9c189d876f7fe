import { describe, expect, it } from "vitest";
import { KINDS } from "../protocol/messages";
import { FIRST_STATE, type View } from "../state/view";
import { example } from "../test/example";
import { inParts, packedMaps } from "../test/parts";
import { missingOf, unfold } from "./parts";
import { Translation } from "./translation";

const whole = example();
const begun = () => new Translation(inParts(whole, [1, 2]));

describe("a translation of which some maps came along", () => {
  it("has those, and the others once they have come", () => {
    const trace = begun();
    expect(trace.whole).toBe(false);
    expect(trace.head("cross", 1, 2)).toEqual(whole.head("cross", 1, 2));
    for (const kind of KINDS) {
      expect([trace.has(kind, 0, 1), trace.has(kind, 1, 1)]).toEqual([false, false]);
      // prettier-ignore
      trace.put(kind, [[1, 1], [0, 1]], packedMaps(whole, kind, [[1, 1], [0, 1]]));
      expect([trace.has(kind, 0, 1), trace.has(kind, 1, 1)]).toEqual([true, true]);
      expect(trace.has(kind, 0, 0)).toBe(false);
      expect(trace.head(kind, 0, 1)).toEqual(whole.head(kind, 0, 1));
      expect(trace.head(kind, 1, 1)).toEqual(whole.head(kind, 1, 1));
    }
  });

  it("lacks what a view is made of, and nothing else", () => {
    const trace = begun();
    const lacks = (view: Partial<View>, of = trace) =>
      missingOf(of, { ...FIRST_STATE, layer: 1, head: 2, ...view });
    const { layers, heads } = trace.maps.cross;
    expect(lacks({})).toEqual([]);
    expect(lacks({ head: 0 })).toEqual([[1, 0]]);
    expect(lacks({ kind: "encoder" })).toEqual([[1, 2]]);
    expect(lacks({ overlay: [[0, 0], [1, 2]] })).toEqual([[0, 0]]); // prettier-ignore
    expect(lacks({ view: "aggregate", aggregate: "all-mean" })).toHaveLength(layers * heads - 1);
    expect(lacks({ view: "aggregate", aggregate: "layer-max" })).toHaveLength(heads - 1);
    expect(lacks({ view: "aggregate", aggregate: "alti" })).toEqual([]);
    expect(lacks({ view: "aggregate", aggregate: "rollout", kind: "encoder" })).toEqual([]);
    expect(lacks({ kind: "encoder" }, whole)).toEqual([]);
  });

  it("takes the share on special tokens from who counted it", () => {
    const shares = { encoder: 0.1, decoder: 0.2, cross: 0.3 };
    expect(new Translation({ ...inParts(whole, [0, 0]), shares }).shares).toEqual(shares);
  });
});

describe("a small picture", () => {
  it("stands for every cell of its blocks", () => {
    const maps = { layers: 1, heads: 2, rows: 3, columns: 5, values: new Float32Array(30) };
    const small = Uint8Array.from([15, 0, 3, 0, 0, 6, 0, 0, 0, 0, 0, 9]); // two pictures of 2 by 3
    unfold({ heads: [], small, pool: 2 }, maps);
    const [first, second] = [maps.values.slice(0, 15), maps.values.slice(15)];
    expect([...first].map((w) => Number(w.toFixed(2)))).toEqual(
      [1, 1, 0, 0, 0.04, 1, 1, 0, 0, 0.04, 0, 0, 0, 0, 0.16], // prettier-ignore
    );
    expect(second[14]).toBeCloseTo(0.36, 5);
    expect(second.filter(Boolean)).toHaveLength(1);
  });
});
