import { describe, expect, it } from "vitest";
import { spelling } from "../text/spelling";
import { SubwordTokenizer } from "../text/subword";
import { banSpans, sourceSpans, Spelling } from "./copying";

const PIECES = [..."0123456789", ..."abehlmorstDTM", "年", ",", " 1", "147", ""];
const table = new Spelling(PIECES);
const id = (piece: string) => PIECES.indexOf(piece);
const EOS = PIECES.length - 1;

describe("numbers and words of the source", () => {
  it.each<[string, string, string[], string[]]>([
    ["en", "on 3 May 2024", ["2024", "20", "2024年", "7年"], ["201", "20240", "202年", "99"]],
    ["en", "1,147 houses", ["1147", "1,147", "11"], ["147", "114年"]],
    ["en", "1.5 million", ["150年", "1500000", "1,500,000"], ["115", "151"]],
    ["en", "3 thousand", ["3000"], ["300年", "30000"]],
    ["de", "um 22 Uhr", ["22", "10:00", "10:0", "9"], ["9:00", "11", "10:0年", "10:5"]],
    ["en", "at 7:30 p.m. in the 1980s", ["19:30", "7:3", "80年"], ["18", "7:3年", "1.8年"]],
    ["de", "am 1. Oktober mittags", ["10", "12"], ["11", "12:2年"]],
    ["de", "12 345 Euro", ["12345", "345"], ["145"]],
    ["en", "Tom's 7", ["Tom", "toms", "TOM", "DNA", "km"], ["To年", "Tomb", "DNAs"]],
    ["en", "Jean-Paul Müller, 7", ["jeanpaul", "ller", "Muller"], ["Mull年", "Jeans"]],
  ])("in %s '%s' are %j, not %j", (src, text, written, forbidden) => {
    const spans = sourceSpans(table, text, src, "zh")!;
    expect(written.filter((each) => !spans.allows("", each))).toEqual([]);
    expect(forbidden.filter((each) => spans.allows("", each))).toEqual([]);
  });

  it.each([
    ["en", "no digit at all"],
    ["en", "twenty men and 3 women"],
    ["en", "2 million 350 thousand"],
    ["de", "dreihundertfünf Seiten, 3 Bilder"],
    ["de", "elf Freunde und 2 Feinde"],
    ["en", "half past 8"],
    ["de", "zehn von 30"],
    ["fr", "vingt et 3"],
  ])("are not asked for in %s '%s'", (src, text) => {
    expect(sourceSpans(table, text, src, "en")).toBeNull();
  });
});

describe("what must not come next", () => {
  const spans = sourceSpans(table, "Tom, 2024", "en", "zh")!;

  it("is what no number of the source goes on with, and a number's end before it is whole", () => {
    const after = spans.forbidden([id("2"), id("0"), id("2")]);
    expect(PIECES.filter((_, at) => !after.includes(at))).toEqual(["4", ","]);
    const whole = spans.forbidden([id("2"), id("0"), id("2"), id("4")]);
    expect(whole).not.toContain(EOS);
    expect(whole).toContain(id("0"));
  });

  it("is nothing after what no source has, which was given", () => {
    expect(spans.forbidden([id("9"), id("9"), id("9")])).toEqual([]);
  });

  it("is all the same where nothing else is left", () => {
    const scores = new Float32Array(PIECES.length).fill(-Infinity);
    scores[EOS] = -1;
    banSpans(scores, spans, [id("2"), id("0"), id("2")]);
    expect(scores[EOS]).toBe(-1);
    scores[id("4")] = -2;
    banSpans(scores, spans, [id("2"), id("0"), id("2")]);
    expect(scores[EOS]).toBe(-Infinity);
  });
});

it("a vocabulary spells bytes of ASCII, and special tokens not at all", () => {
  const bytes = Array.from({ length: 256 }, (_, n) => `<0x${n}>`);
  const config = {
    language: "en",
    level: "subword",
    normalise: "corpus",
    prefix_space: true,
    lowercase: false,
  } as const;
  const pieces = ["<pad>", "<s>", "</s>", "<unk>", ...bytes, " ", "a", " a"];
  const texts = spelling(new SubwordTokenizer({ version: 1, config, pieces, merges: [] }));
  expect(texts[2]).toBe("");
  expect([texts[4 + 0x31], texts[4 + 0xe4]]).toEqual(["1", "\ufffd"]);
  expect(texts.slice(-3)).toEqual([" ", "a", " a"]);
});
