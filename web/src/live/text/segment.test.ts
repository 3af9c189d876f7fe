import { describe, expect, it } from "vitest";
import { words } from "./segment";

const cut = (text: string, language = "en") =>
  words(text, language).map((span) => text.slice(...span));

describe("words", () => {
  it.each([
    ["the mother-in-law's car", ["the", "mother-in-law's", "car"]],
    ["don’t -stop- 'quoted'", ["don’t", "-", "stop", "-", "'", "quoted", "'"]],
    ["3.5 km/h", ["3", ".", "5", "km", "/", "h"]],
    ["e\u0301te\u0301 naïve", ["e\u0301te\u0301", "naïve"]],
    ["👩‍🚀👍🏽🇩🇪🇫🇷", ["👩‍🚀", "👍🏽", "🇩🇪", "🇫🇷"]],
    ["", []],
    [" \t\u3000", []],
  ])("of %j", (text, expected) => expect(cut(text)).toEqual(expected));

  it.each(["Das ist, wie 1.000,50 € zeigen, „gut“.", "a\u00a0b\u200bc", "我们 2 人 ok", "…!?…"])(
    "of %j cover all but white space, in order",
    (text) => {
      let end = 0;
      for (const [start, next] of words(text, "en")) {
        expect(text.slice(end, start)).toMatch(/^\s*$/);
        expect(next).toBeGreaterThan(start);
        end = next;
      }
      expect(text.slice(end)).toMatch(/^\s*$/);
    },
  );
});
