import { describe, expect, it } from "vitest";
import { LIMITS } from "../protocol/registry";
import { EXAMPLES, payload } from "../test/example";
import { withoutWeights } from "../test/checkpoint";
import { health, split } from "./session";

const de = withoutWeights("de-en");

it.each(EXAMPLES)("of %s it tells of the text what Python does", (id) => {
  const { checkpoint, source, health: expected } = payload(id);
  expect(health(withoutWeights(checkpoint.name), source)).toEqual(expected);
});

describe("of a text that is refused", () => {
  const long = "Das Haus. ".repeat(60);
  it("it says why, before anybody asks", () => {
    const { problem, tokens, limit } = health(de, long);
    expect(tokens).toBeGreaterThan(limit);
    expect(problem).toContain(String(limit));
    expect(health(de, "Das Haus.").problem).toBe("");
  });
  it("nothing is counted above the limit of characters", () => {
    const endless = "a".repeat(LIMITS.characters + 1);
    expect(health(de, endless)).toMatchObject({ words: 0, tokens: 0 });
    expect(health(de, endless).problem).toContain("the text has 1,001 characters");
    expect(split(de, endless)).toEqual([]);
  });
  it("a blank one has no fault yet", () =>
    expect(health(de, " \u200b")).toMatchObject({ words: 0, problem: "" }));
});

describe("the pieces of a text", () => {
  it.each(["Das Haus ist groß, aber alt.", "Donaudampfschifffahrt 1984"])(
    "of %j are those that the model reads, word by word",
    (text) => {
      const pieces = split(de, text);
      const { tokens } = de.src.encode(text);
      expect(pieces.flat().map(({ s }) => s)).toEqual(tokens.map(({ surface }) => surface));
      expect(pieces.length).toBe(new Set(tokens.map(({ word }) => word)).size);
    },
  );
});
