import { describe, expect, it } from "vitest";
import type { Span } from "./normalise";
import { checkIds, inPlace, makeToken, typedSpan, wordOfUnits } from "./tokenizer";

it("a token is as usual where nothing else is said", () => {
  const usual = { span: null, word: -1, space: false, special: false, unknown: false };
  expect(makeToken(7, "Haus")).toEqual({ id: 7, surface: "Haus", ...usual });
  expect(makeToken(2, "</s>", { special: true })).toMatchObject({ special: true, word: -1 });
});

describe("ids", () => {
  it("of the vocabulary are taken", () => expect(() => checkIds([0, 4, 2], 5)).not.toThrow());
  it.each([-1, 5, NaN])("outside of it are refused by name: %d", (id) =>
    expect(() => checkIds([1, id], 5)).toThrow(
      `token id ${id} is outside the vocabulary of 5 pieces`,
    ),
  );
});

describe("a place in the normalised text", () => {
  const spans: Span[] = [
    [0, 1],
    [2, 4],
    [2, 4],
    [4, 5],
  ];
  const normalised = { text: "abcd", spans };
  it.each([
    [0, 2, [0, 4]],
    [1, 3, [2, 4]],
    [3, 4, [4, 5]],
    [1, 1, [2, 2]], // nothing: at what follows
    [4, 4, [0, 0]], // at the end there is nothing that it could stand before
  ])("%i to %i stood at %j", (start, end, typed) =>
    expect(typedSpan(normalised, start, end)).toEqual(typed),
  );
});

describe("the word of a unit", () => {
  /** As it is said: each unit belongs to the first word that ends after it, else to the last. */
  const said = (text: string, spans: readonly Span[]) =>
    Array.from({ length: text.length }, (_, unit) => {
      const word = spans.findIndex(([, end]) => unit < end);
      return word < 0 ? Math.max(spans.length - 1, 0) : word;
    });
  const cases: [string, Span[]][] = [
    [
      "  ab c  ",
      [
        [2, 4],
        [5, 6],
      ],
    ],
    [
      "a,b",
      [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    ],
    ["   ", []],
    ["", []],
    [
      "x 😀 y",
      [
        [0, 1],
        [2, 4],
        [5, 6],
      ],
    ],
  ];
  it.each(cases)("of %j is that of the word it stands before or in", (text, spans) =>
    expect(wordOfUnits(text, spans)).toEqual(said(text, spans)),
  );
});

describe("a translation to its own tokens", () => {
  it.each(["", "Das Haus", "😀 a 中😀", "e\u0301"])("%j stands where it stands", (text) => {
    const { text: same, spans } = inPlace(text);
    expect(same).toBe(text);
    expect(spans).toHaveLength(text.length);
    spans.forEach(([start, end], unit) => {
      expect(start <= unit && unit < end).toBe(true);
      expect([...text.slice(start, end)]).toHaveLength(1); // both halves of a pair are one
    });
  });
});
