import { describe, expect, it } from "vitest";
import { FIRST_STATE } from "../../state/view";
import { example } from "../../test/example";
import { inGrid, placesOf, sorts } from "./order";

const trace = example();
const { layers, heads } = trace.maps.cross;
const places = (patch: Partial<typeof FIRST_STATE>, small = false) =>
  placesOf({ trace, state: { ...FIRST_STATE, ...patch } }, small);

describe("the order of the tiles", () => {
  it("is by layer and head, on a phone of one layer", () => {
    expect(places({})).toHaveLength(layers * heads);
    expect(places({}).slice(0, 2)).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(places({ layer: 2 }, true).every(([layer]) => layer === 2)).toBe(true);
    expect(inGrid({ state: FIRST_STATE })).toBe(true);
  });

  it.each(sorts().slice(1))("by %s goes by what the table says", (sort) => {
    const order = places({ sort });
    const values = order.map(([l, h]) => trace.heads!.cross[sort as "entropy"]![l * heads + h]);
    const sorted = [...values].sort((a, b) => (sort === "confidence" ? b - a : a - b));
    expect(values).toEqual(sorted);
    expect(new Set(order.map(String)).size).toBe(layers * heads);
  });
});
