import { describe, expect, it } from "vitest";
import { HAN, INVISIBLE, SPACE, belongs, countCharacters } from "./characters";

describe("characters", () => {
  it("are counted as Python counts them", () => {
    expect(countCharacters("aä中😀")).toBe(4);
    expect(countCharacters("\ud83d")).toBe(1); // half of one
    expect(countCharacters("")).toBe(0);
  });

  it.each([
    ["word", "ä中7_", " -.😀"],
    ["mark", "\u0301\u0900", "a "],
    ["rightToLeft", "אع", "a1"],
  ] as const)("of the class %s are %s and not %s", (name, members, others) => {
    const member = belongs(name);
    for (const char of members) expect(member(char)).toBe(true);
    for (const char of others) expect(member(char)).toBe(false);
  });

  it.each([
    [SPACE, "\t\u3000\x85", "\u200b"],
    [INVISIBLE, "\u200b\ufeff", "\u200d "],
    [HAN, "中𠀀々", "あa"],
  ])("of %s are %j and not %j", (inside, members, others) => {
    const pattern = new RegExp(`^[${inside}]$`, "u");
    for (const char of members) expect(char).toMatch(pattern);
    for (const char of others) expect(char).not.toMatch(pattern);
  });
});
