import { describe, expect, it } from "vitest";
import { example } from "../test/example";
import { within } from "./view";

const trace = example();

describe("what a translation can show of a wish", () => {
  it("is a kind, a head and a step that it has", () => {
    const wish = { kind: "decoder", layer: 1, head: 2, step: 0, unit: "word" };
    expect(within(trace, wish)).toEqual(wish);
  });

  it.each([
    { layer: trace.maps.cross.layers },
    { head: -1 },
    { step: trace.tgt.length },
    { query: 1.5 },
    { kind: "toString" },
    { view: "pie" },
    { aggregate: "chosen-mean" }, // nobody's choice comes with a link
    { aggregate: "rollout" }, // which cross-attention has none of
  ])("is nothing of %o", (wish) => {
    expect(within(trace, wish)).toEqual({});
  });

  it("is the encoder's rollout, and scaled rows where specials are renormalised", () => {
    const wish = { kind: "encoder", aggregate: "rollout", specials: "renormalised" };
    expect(within(trace, wish)).toEqual({ ...wish, renormalise: true });
    expect(within(trace, { specials: "hidden" })).toEqual({
      specials: "hidden",
      renormalise: false,
    });
  });
});
