import { expect, it } from "vitest";
import { pairOf } from "./pair";

const DIRECTIONS = ["de-en", "en-zh"];

it("is from one's own language, or else into it", () => {
  expect(pairOf("de-AT", DIRECTIONS)).toBe("de-en");
  expect(pairOf("zh-CN", DIRECTIONS)).toBe("en-zh");
});

it("is the page's own where the language is English, or on neither side", () => {
  for (const language of ["en-GB", "fr", ""]) expect(pairOf(language, DIRECTIONS)).toBeNull();
  expect(pairOf("de")).toBeNull();
});

it("is none that has to be fetched first", () => {
  const all = [...DIRECTIONS, "opus-mt-de-fr", "es-en"];
  expect(pairOf("fr-FR", all)).toBe("opus-mt-de-fr");
  for (const language of ["fr-FR", "es"])
    expect(pairOf(language, all, ["opus-mt-de-fr", "es-en"])).toBeNull();
});
