import { expect, it } from "vitest";
import type { HeatView } from "../../plot/heat";
import { TestContext } from "../../test/context";
import { keyOf } from "./plots";

it("is drawn anew when the contributions that it waited for have come", () => {
  const who = new TestContext();
  const before = keyOf(who, 1, {} as HeatView);
  expect(keyOf(who, 1, {} as HeatView)).toBe(before);
  const { rows, columns } = who.trace.maps.cross;
  const map = new Float32Array(rows * columns);
  who.trace.contributions = { encoder: map, decoder: map, cross: map };
  expect(keyOf(who, 1, {} as HeatView)).not.toBe(before);
});
