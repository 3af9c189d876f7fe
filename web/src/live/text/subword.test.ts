import { describe, expect, it } from "vitest";
import { EXAMPLES, payload } from "../../test/example";
import { tokenizerFile, withoutWeights } from "../../test/checkpoint";
import { tokenMessage } from "../messages/tokens";
import { SubwordTokenizer } from "./subword";
import { EOS, SPECIALS } from "./tokenizer";

const TEXTS = [
  "Der Mann las 1984 in Köln-Ehrenfeld.",
  "  zwei   Leerzeichen\tund ein Tab ",
  "Emoji 👩‍🚀, Runen ᚠᚢᚦ und 中文",
  "ﬁnden ½ Ångström",
  "a",
];

describe.each(EXAMPLES)("in %s", (id) => {
  const sent = payload(id);
  const { src, tgt } = withoutWeights(sent.checkpoint.name);

  it("the source has Python's tokens, and the end", () => {
    const tokens = [...src.encode(sent.source).tokens, src.token(EOS)];
    expect(tokens.map(tokenMessage)).toEqual(sent.src);
  });

  it("the target's ids spell the translation", () => {
    const ids = sent.tgt.map(({ i }) => i);
    expect(tgt.decode(ids)).toBe(sent.translation);
    const surfaces = tgt.tokens(ids).map(tokenMessage);
    expect(surfaces.map(({ s, i }) => [s, i])).toEqual(sent.tgt.map(({ s, i }) => [s, i]));
  });
});

describe.each(TEXTS)("of %j", (text) => {
  const { src } = withoutWeights("de-en");
  const { normalised, tokens } = src.encode(text);

  it("ids are those of its tokens, and spell what was normalised", () => {
    expect(src.ids(text)).toEqual(tokens.map(({ id }) => id));
    expect(src.decode(src.ids(text)).trim()).toBe(normalised.text.trim());
    expect(tokens.some(({ unknown }) => unknown)).toBe(false);
  });

  it("spans ascend, and leave out nothing but white space", () => {
    let end = 0;
    for (const { span } of tokens) {
      const [start, next] = span!;
      expect(text.slice(end, start)).toMatch(/^\s*$/);
      end = Math.max(end, next);
    }
    expect(text.slice(end)).toMatch(/^\s*$/);
  });
});

describe("the vocabulary", () => {
  const { src } = withoutWeights("de-en");

  it("has special tokens that spell nothing, and refuses ids that it lacks", () => {
    expect(SPECIALS.map((_, id) => src.token(id).special)).toEqual([true, true, true, true]);
    expect(src.decode([EOS, 0, 1])).toBe("");
    for (const id of [-1, src.size, NaN])
      expect(() => src.decode([id])).toThrow(`outside the vocabulary of ${src.size} pieces`);
  });

  it("shows a byte as such, and joins bytes to a character", () => {
    const bytes = [...new TextEncoder().encode("ᚠ")].map((byte) => byte + SPECIALS.length);
    expect(src.token(bytes[0]!).surface).toBe("<0xE1>");
    expect(src.decode(bytes)).toContain("ᚠ");
    expect(src.decode(bytes.slice(0, 2))).toContain("\ufffd");
  });

  it("is refused where a merge makes no piece", () => {
    const file = tokenizerFile("de-en", "src");
    const merges: [number, number][] = [[file.pieces.length - 1, file.pieces.length - 2]];
    expect(() => new SubwordTokenizer({ ...file, merges })).toThrow("merge 0 of the vocabulary");
  });
});
