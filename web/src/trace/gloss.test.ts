import { expect, it } from "vitest";
import { example, payload } from "../test/example";
import { Translation } from "./translation";
import { canGloss, glossOf } from "./gloss";

const meanings = (trace: Translation) =>
  Object.fromEntries(glossOf(trace).map(({ text, meaning }) => [text, meaning.toLowerCase()]));

it("says of each word where it comes from", () => {
  const father = example("en-zh-father");
  expect(meanings(father)).toMatchObject({ 医院: "hospital", 父亲: "father" });
  const words = glossOf(father);
  expect(words.flatMap(({ tokens }) => tokens)).toEqual([
    ...new Set(words.flatMap((w) => w.tokens)),
  ]);
  expect(words.find(({ text }) => text === "医院")!.pinyin).toBe("yīyuàn");
});

it("needs no server for the head's own words", () => {
  const { gloss, ...rest } = payload("en-zh-father");
  expect(gloss).toBeDefined();
  const alone = new Translation(rest);
  expect(meanings(alone)).toMatchObject({ 医院: "hospital", 父亲: "father" });
  expect(glossOf(alone).every(({ pinyin, from }) => !pinyin && from !== "glossary")).toBe(true);
});

it("does not give two neighbours the same word of the source", () => {
  const { words, gloss, ...rest } = payload("en-zh-father");
  const [at, next] = [gloss![0], gloss![1]];
  const both = new Translation({
    ...rest,
    words,
    gloss: [
      { ...at, s: "了", d: "" },
      { ...at, s: "孩子", d: "children" },
      { ...next, d: "" },
    ],
  });
  const [particle, child, other] = glossOf(both);
  expect(particle).toMatchObject({ meaning: "", from: "" });
  expect(child).toMatchObject({ meaning: "children", from: "glossary" });
  expect(other.meaning).toBe(glossOf(example("en-zh-father"))[1].meaning);
});

it("is for Chinese alone", () => {
  expect(canGloss(example("de-en-in-den"))).toBe(false);
  expect(canGloss(example("en-zh-father"))).toBe(true);
});
