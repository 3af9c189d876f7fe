import { describe, expect, it } from "vitest";
import { loadTokenizer } from "./load";
import type { TextConfig } from "./normalise";
import { SPECIALS, UNKNOWN } from "./tokenizer";

const CONFIG: TextConfig = {
  language: "en",
  level: "word",
  normalise: "none",
  prefix_space: false,
  lowercase: false,
};
const made = (level: TextConfig["level"], pieces: string[], more: Partial<TextConfig> = {}) =>
  loadTokenizer({
    version: 1,
    config: { ...CONFIG, level, ...more },
    pieces: [...SPECIALS, ...pieces],
  });

describe("a vocabulary of words", () => {
  const words = made("word", ["the", "cat", "sat", "(", ")", ",", '"', "."]);

  it("gives each word an id, and what it lacks the same one", () => {
    const { tokens } = words.encode("the dog sat.");
    expect(tokens.map(({ id, unknown }) => [id, unknown])).toEqual([
      [4, false],
      [UNKNOWN, true],
      [6, false],
      [11, false],
    ]);
    expect(tokens.map(({ surface }) => surface)).toEqual(["the", "dog", "sat", "."]);
    expect(tokens.map(({ span }) => span)).toEqual([
      [0, 3],
      [4, 7],
      [8, 11],
      [11, 12],
    ]);
  });

  it("does not take a typed special token for one", () => {
    expect(made("word", ["<", "s", ">"]).ids("<s>")).toEqual([4, 5, 6]);
  });

  it.each(["the cat (the cat) sat, the cat.", 'the "cat sat" the', "cat"])(
    "spells %j again",
    (text) => expect(words.decode(words.ids(text))).toBe(text),
  );
});

describe("a vocabulary of characters", () => {
  const chars = made("char", [..."abc ", "😀"]);

  it("counts a sign of two units as one, and shows a space", () => {
    const { tokens } = chars.encode("a 😀x");
    expect(tokens.map(({ id }) => id)).toEqual([4, 7, 8, UNKNOWN]);
    expect(tokens.map(({ surface }) => surface)).toEqual(["a", "▁", "😀", "x"]);
    expect(tokens.map(({ span }) => span)).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
      [4, 5],
    ]);
  });

  it("spells its ids again, and what is unknown as a sign for that", () => {
    expect(chars.decode(chars.ids("abc a😀"))).toBe("abc a😀");
    expect(chars.decode(chars.ids("abx"))).toBe("ab\ufffd");
  });

  it("gives the characters of a word one number", () => {
    expect(chars.encode("ab ca").tokens.map(({ word }) => word)).toEqual([0, 0, 1, 1, 1]);
  });
});

it("of another level is refused, by its name", () => {
  expect(() => made("treebank", [])).toThrow(
    "the vocabulary's level is 'treebank'; this page tokenizes subword, word, char",
  );
});
