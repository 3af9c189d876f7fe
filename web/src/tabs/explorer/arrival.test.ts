import { expect, it } from "vitest";
import { FIRST_STATE } from "../../state/view";
import { example } from "../../test/example";
import { arrived, type Before, whileWriting, writing } from "./arrival";

const trace = example();
const before: Before = { ...FIRST_STATE, kind: "decoder", layer: 4, head: 5, step: 7 };

it("another model's translation opens with the head that aligns best, the same model's with the chosen one", () => {
  expect(arrived(trace, before, false, {})).toMatchObject({ kind: "decoder", ...trace.leading });
  expect(arrived(trace, before, true, {})).toMatchObject({ kind: "decoder", layer: 4, head: 5 });
});

it("a head that was picked while it was written stays, and what was linked to prevails", () => {
  const wish = { ...before };
  whileWriting({ layer: 1, head: 2 }, wish, "heatmap");
  expect(arrived(trace, wish, false, {})).toMatchObject({ layer: 1, head: 2 });
  expect(arrived(trace, wish, false, { kind: "cross", layer: 3, step: 2 })).toMatchObject({
    kind: "cross",
    layer: 3,
    step: 2,
  });
});

it("while one is written there are cross rows alone: another kind waits until it is whole", () => {
  expect(writing("aggregate")).toMatchObject({ kind: "cross", view: "heatmap" });
  const wish = { ...before };
  expect(whileWriting({ kind: "encoder", step: 1 }, wish, "heatmap")).toEqual({ step: 1 });
  expect(wish.kind).toBe("encoder");
  expect(whileWriting({ view: "aggregate" }, wish, "arcs")).toEqual({ view: "arcs" });
  expect(wish.view).toBe("aggregate");
});
