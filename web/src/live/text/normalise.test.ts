import { describe, expect, it } from "vitest";
import { isBlank, normalise, normaliseText, type TextConfig } from "./normalise";

const CORPUS: TextConfig = {
  language: "de",
  level: "subword",
  normalise: "corpus",
  prefix_space: true,
  lowercase: false,
};
const TEXTS = [
  "Das  ist\tein   Satz .",
  "e\u0301le\u0300ve \u201eZitat\u201c \u2026",
  "soft\u00adhyphen und \u200bnichts\ufeff",
  "ﬁ ½ Ａ １２ \u2460",
  "a\ud83d b 😀 👩‍🚀",
  "",
];

describe.each(TEXTS)("%j, normalised,", (text) => {
  const { text: made, spans } = normalise(text, CORPUS);

  it("has a place in what was typed for each of its units", () => {
    expect(spans).toHaveLength(made.length);
    spans.forEach(([start, end], at) => {
      expect(start).toBeGreaterThanOrEqual(spans[at - 1]?.[0] ?? 0);
      expect(end).toBeGreaterThan(start);
      expect(end).toBeLessThanOrEqual(text.length);
    });
  });

  it("is the same without places, and once more", () => {
    expect(normaliseText(text, CORPUS)).toBe(made);
    expect(normaliseText(made, CORPUS)).toBe(made);
  });

  it("stays as it is where nothing is to be normalised, but for halves of characters", () => {
    const whole = text.replace(/[\ud800-\udfff]/gu, "\ufffd");
    expect(normaliseText(text, { ...CORPUS, normalise: "none" })).toBe(whole);
  });

  it("is in small letters where that is asked for, each in its place", () => {
    const small = normalise(text, { ...CORPUS, lowercase: true });
    expect(small.text).toBe(made.toLowerCase());
    expect(small.spans).toHaveLength(small.text.length);
  });
});

it("what cannot be seen is gone, and what is written twice is once there", () => {
  expect(normaliseText("soft\u00adhyphen\u200b", CORPUS)).toBe("softhyphen");
  expect(normaliseText("a \u00a0\t b", CORPUS)).toBe("a b");
  expect(normaliseText("e\u0301", CORPUS)).toBe("é");
});

it.each([
  ["NIEMAND HAT MICH GEFRAGT!", "niemand hat mich gefragt!"],
  ["I'M LATE", "i'm late"],
  ["NATO", "NATO"],
  ["NIEMAND hat mich gefragt", "NIEMAND hat mich gefragt"],
  ["ǅABCDE", "ǅABCDE"],
])("%j, which may be all in capitals, is read as %j", (typed, read) => {
  const { text, spans } = normalise(typed, CORPUS);
  expect(text).toBe(read);
  expect(spans.map(([start]) => start)).toEqual([...typed].map((_, at) => at));
  expect(normaliseText(typed, { ...CORPUS, language: "zh" })).toBe(typed);
});

it.each([
  ["", true],
  [" \t\u3000\u200b\ufeff\u00ad", true],
  ["\ufe0f\u200d", true],
  [".", false],
  ["\u200ba", false],
])("that %j is blank is %s", (text, blank) => expect(isBlank(text)).toBe(blank));
