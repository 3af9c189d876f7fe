import { expect, it } from "vitest";
import { numberSize, numberText } from "./numbers";

it.each([
  [0, ""],
  [0.004, ""],
  [0.005, ".01"],
  [0.25, ".25"],
  [0.994, ".99"],
  [0.996, "1"],
  [1, "1"],
])("a weight of %d is written %j", (weight, text) => {
  expect(numberText(weight)).toBe(text);
});

it("letters fit into their cell, are no larger than asked for, and never too small to be read", () => {
  for (const [width, height] of [[40, 20] as const, [200, 14] as const, [30, 200] as const]) {
    const size = numberSize(width, height, 13);
    expect(size).toBeLessThanOrEqual(13);
    expect(2 * size).toBeLessThan(width); // three signs, each half as wide as high or a bit more
    expect(size).toBeLessThan(height);
    expect(size).toBeGreaterThanOrEqual(9);
  }
  expect(numberSize(20, 100, 13)).toBe(0);
  expect(numberSize(100, 13, 13)).toBe(0);
});
