import { expect, it } from "vitest";
import { EXAMPLES, example } from "../test/example";
import { tourOf } from "./tour";

it("has six stops on any sentence", () => {
  for (const id of EXAMPLES) expect(tourOf(example(id))).toHaveLength(6);
});

it("shows the head that aligns best, and one that looks back", () => {
  const trace = example("de-en-in-den");
  const [, , aligns, back] = tourOf(trace);
  expect(aligns.head!.place).toEqual([trace.leading.layer, trace.leading.head]);
  const { kind, place } = back.head!;
  expect(trace.stats(kind, ...place)!.role).toBe("previous");
});
