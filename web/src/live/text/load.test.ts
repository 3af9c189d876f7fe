import { describe, expect, it } from "vitest";
import { tokenizerFile } from "../../test/checkpoint";
import { LEVELS, loadTokenizer } from "./load";
import { SPECIALS, type TokenizerFile } from "./tokenizer";

const shipped = tokenizerFile("de-en", "src");
const small = (level: string, pieces: string[]): TokenizerFile => ({
  ...shipped,
  config: { ...shipped.config, level } as TokenizerFile["config"],
  pieces: [...SPECIALS, ...pieces],
  merges: [],
});
const surfaces = (file: TokenizerFile, text: string) =>
  loadTokenizer(file)
    .encode(text)
    .tokens.map(({ surface }) => surface);

describe("the tokenizer of a file", () => {
  it("cuts into characters, words or pieces, as its level says", () => {
    const text = "das Haus";
    expect(surfaces(small("char", [..."dasHu "]), text)).toEqual([..."das▁Haus"]);
    expect(surfaces(small("word", ["das", "Haus"]), text)).toEqual(["das", "Haus"]);
    const pieces = surfaces(shipped, "Donaudampfschifffahrt");
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("Donaudampfschifffahrt");
  });

  it("has as many ids as its file has pieces, and gives a text back", () => {
    for (const level of LEVELS) {
      const file = level === "subword" ? shipped : small(level, ["das", "Haus", ..."dasHu "]);
      const tokenizer = loadTokenizer(file);
      expect(tokenizer.size).toBe(file.pieces.length);
      expect(tokenizer.decode(tokenizer.ids("das Haus"))).toBe("das Haus");
    }
  });

  it("is refused by its level where this page knows none such", () =>
    expect(() => loadTokenizer(small("marian", []))).toThrow(
      "the vocabulary's level is 'marian'; this page tokenizes subword, word, char",
    ));
});
