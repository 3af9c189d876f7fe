import { expect, it } from "vitest";
import { example } from "../test/example";
import { candidatesOf } from "./candidates";

it("what was weighed up sums to 1, with all others last", () => {
  const trace = example();
  trace.steps.forEach((_, step) => {
    const found = candidatesOf(trace, step, 4);
    expect(found.reduce((sum, { p }) => sum + p, 0)).toBeCloseTo(1, 6);
    expect(found.at(-1)).toMatchObject({ s: "all others", rest: true });
    const chosen = found.filter((each) => each.chosen);
    expect(chosen.map(({ i }) => i)).toEqual([trace.tgt[step].i]);
  });
});

it("what was chosen stands there even where others were likelier, in the last one's place", () => {
  const trace = example();
  trace.tgt[1] = { ...trace.tgt[1], i: 9_999, s: "odd" };
  trace.steps[1] = { ...trace.steps[1], lp: Math.log(0.001) };
  const found = candidatesOf(trace, 1, 3);
  expect(found.slice(0, 2).map(({ i }) => i)).toEqual(
    trace.steps[1].c.slice(0, 2).map(({ i }) => i),
  );
  expect(found[2]).toMatchObject({ s: "odd", chosen: true });
  expect(found[2].p).toBeCloseTo(0.001, 9);
  expect(found).toHaveLength(4);
});
