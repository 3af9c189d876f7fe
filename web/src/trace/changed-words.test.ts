import { describe, expect, it } from "vitest";
import { changedWords } from "./changed-words";

const fresh = (a: string, b: string) => {
  const words = b.split(" ");
  return words.filter((_, i) => changedWords(a.split(" "), words)[i]).join(" ");
};

describe("changedWords", () => {
  it.each([
    ["I run in the park", "I run in the park", ""],
    ["I run in the park", "I walk in a park", "walk a"],
    ["the cat sat", "sat the cat", "sat"],
    ["a b c", "x y", "x y"],
    ["a", "a a", "a"],
  ])("%s → %s: %s", (a, b, want) => expect(fresh(a, b)).toBe(want));
});
