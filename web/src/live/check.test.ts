import { describe, expect, it } from "vitest";
import type { Asked } from "../protocol/registry";
import { check } from "./check";

const whole: Asked = { kind: "whole", low: 1, high: 5 };

describe("a value that a field cannot have", () => {
  it.each<[Asked, unknown, string]>([
    [whole, 6, "x is 6; it must be a whole number from 1 to 5"],
    [whole, 1.5, "it must be a whole number from 1 to 5"],
    [whole, "3", "it must be a whole number from 1 to 5"],
    [whole, null, "x is missing; it must be a whole number from 1 to 5"],
    [{ kind: "number", low: 0 }, -1, "it must be a number from 0"],
    [{ kind: "number", low: 0 }, NaN, "it must be a number from 0"],
    [{ kind: "choice", choices: ["a", "b"] }, "c", "it must be one of a, b"],
    [{ kind: "text" }, "x".repeat(1001), "x must be a text of at most 1,000 characters"],
    [{ kind: "pairs", low: 0, high: 3 }, [[0, 4]], "pairs of layer and head"],
  ])("%o: %j", (asked, value, why) => {
    expect(() => check(asked, "x", value)).toThrow(why);
  });

  it("depends on what only the sentence says", () => {
    expect(() => check(whole, "x", 5, 4)).toThrow("from 1 to 4");
    check({ kind: "whole", low: 1 }, "x", 1000);
  });

  it("is none of those that it can", () => {
    check(whole, "x", 5);
    check({ kind: "choice", choices: ["a", true] }, "x", true);
    check({ kind: "pairs", low: 0, high: 3 }, "x", [[0, 3]]);
  });
});
