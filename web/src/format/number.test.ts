import { expect, it } from "vitest";
import { clamp, minus, signed, two } from "./number";

it("a number is kept between its ends", () => {
  expect([-1, 3, 9].map((value) => clamp(value, 0, 5))).toEqual([0, 3, 5]);
});

it("a small probability is not shown as none", () => {
  expect([0, 0.0049, 0.005, 0.994, 1].map(two)).toEqual(["0.00", "<.01", "0.01", "0.99", "1.00"]);
});

it("a sign stands before every number but one that rounds to 0", () => {
  expect([1.234, -1.234, 0.004, -0.004, 0].map((value) => signed(value))).toEqual([
    ...["+1.23", "−1.23", "0.00", "0.00", "0.00"],
  ]);
  expect(signed(-0.04, 1)).toBe("0.0");
  expect([minus(-2, 1), minus(2, 1)]).toEqual(["−2.0", "2.0"]);
});
