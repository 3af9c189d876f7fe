import { describe, expect, it } from "vitest";
import { PUNCTUATION, SPACE, SPECIAL, UNKNOWN } from "../../protocol/flags";
import { EXAMPLES, payload } from "../../test/example";
import { withoutWeights } from "../../test/checkpoint";
import { makeToken } from "../text/tokenizer";
import { isPunctuation, tokenMessage, wordGroups, wordsMessage } from "./tokens";

describe("a token", () => {
  it.each([
    [".", true],
    ["“", true],
    ["。", true],
    [" – ", true],
    ["a.", false],
    ["5", false],
  ])("%j is a sign: %j", (surface, sign) => {
    expect(isPunctuation(makeToken(5, surface))).toBe(sign);
  });

  it("that is special is no sign, whatever it is written with", () =>
    expect(isPunctuation(makeToken(2, "…", { special: true }))).toBe(false));

  it("is told of by its flags, and by its real text where another is shown", () => {
    expect(tokenMessage(makeToken(7, " a", { word: 1, space: true }))).toEqual({
      ...{ s: "␣a", r: " a", i: 7, f: SPACE, w: 1 },
    });
    const flags = (surface: string, more: object) => tokenMessage(makeToken(1, surface, more)).f;
    expect(flags("</s>", { special: true })).toBe(SPECIAL);
    expect(flags("?", { unknown: true, space: true })).toBe(UNKNOWN + SPACE + PUNCTUATION);
    expect(tokenMessage(makeToken(7, "a"))).not.toHaveProperty("r");
  });
});

describe("words", () => {
  const tokens = [
    makeToken(5, "un", { word: 0, span: [0, 2] }),
    makeToken(6, "der", { word: 0, span: [2, 5] }),
    makeToken(7, "it", { word: 1, span: [6, 8] }),
    makeToken(2, "</s>", { special: true }),
    makeToken(2, "</s>", { special: true }),
  ];

  it("are what pieces share; each special token has its own", () => {
    expect(wordGroups(tokens)).toEqual([0, 0, 1, 2, 3]);
    expect(wordGroups([])).toEqual([]);
  });

  it("read as they stood in the text, or as their pieces together", () => {
    expect(wordsMessage(tokens, "UNDER It").s).toEqual(["UNDER", "It", "</s>", "</s>"]);
    expect(wordsMessage(tokens, "").s).toEqual(["under", "it", "</s>", "</s>"]);
  });

  it.each(EXAMPLES)("and tokens of %s's source are told of as Python does", (id) => {
    const { checkpoint, source, src, words } = payload(id);
    const { src: tokenizer } = withoutWeights(checkpoint.name);
    const found = [...tokenizer.encode(source).tokens, tokenizer.token(2)];
    expect(found.map(tokenMessage)).toEqual(src);
    expect(wordsMessage(found, source)).toEqual(words!.src);
  });
});
