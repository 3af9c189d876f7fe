import { describe, expect, it } from "vitest";
import { classOf } from "./characters";
import { CLASSES } from "./classes";

type Name = keyof typeof CLASSES;

/** Every code point but the halves of pairs. */
const ALL = (() => {
  const parts: string[] = [];
  for (let code = 0; code < 0x110000; code++)
    if (code < 0xd800 || code > 0xdfff) parts.push(String.fromCodePoint(code));
  return parts.join("");
})();
/** What a newer Unicode has assigned is nothing to either side. */
const KNOWN = ALL.replace(new RegExp(`[${classOf("unassigned")}]+`, "gu"), "");
const left = (inside: string) => KNOWN.replace(new RegExp(`[^${inside}]+`, "gu"), "");
/** In hexadecimal, as a reader looks them up. */
const codes = (text: string) => [...text].map((char) => char.codePointAt(0)!.toString(16));
const differ = (a: string, b: string) => {
  const [ours, theirs] = [new Set(a), new Set(b)];
  return codes(
    [...a].filter((c) => !theirs.has(c)).join("") + [...b].filter((c) => !ours.has(c)).join(""),
  );
};

describe("the class of characters", () => {
  it.each([
    ["digit", "\\p{Nd}"],
    ["mark", "\\p{M}"],
    ["sign", "\\p{P}\\p{S}"],
    ["hidden", "\\p{Cc}\\p{Cf}"],
  ] as const)("%s is what the browser's own Unicode calls %s", (name, theirs) =>
    expect(differ(left(classOf(name)), left(theirs))).toEqual([]),
  );

  it("unassigned holds nothing that Unicode 14 had a name for", () => {
    const samples = "aä中あअ한€\u{1f600}\u{1fae0}\u{20000}"; // the last emoji is of Unicode 14
    expect(KNOWN).toSatisfy((known: string) => [...samples].every((c) => known.includes(c)));
    expect(KNOWN.includes("\u{1fae8}")).toBe(false); // of Unicode 15
  });

  it("word has letters, digits and marks, and no sign but those that join", () => {
    const words = new Set(left(classOf("word")));
    for (const inside of ["\\p{L}", "\\p{Nd}", "\\p{M}"])
      expect(
        codes(left(inside)).length - [...left(inside)].filter((c) => words.has(c)).length,
      ).toBe(0);
    const signs = [...left("\\p{P}\\p{S}")].filter((c) => words.has(c));
    expect(signs.every((c) => /[\p{Pc}\p{Alphabetic}]/u.test(c))).toBe(true);
  });
});

it.each(Object.keys(CLASSES) as Name[])("the runs of %s rise, and touch nowhere", (name) => {
  const runs = CLASSES[name].split(" ").map((run) => run.split(".").map((n) => parseInt(n, 36)));
  let end = 0;
  runs.forEach(([gap, length = 1], at) => {
    expect(gap! > 0 || at === 0).toBe(true);
    expect(length).toBeGreaterThan(0);
    end += gap! + length;
  });
  expect(end).toBeLessThanOrEqual(0x110000);
});
