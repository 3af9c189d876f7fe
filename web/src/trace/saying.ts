/* What is seen, in a sentence: what the chosen head did in the present row of this very
   translation. */

import { t, type Sentence } from "../i18n/words";
import type { Kind, Reading, Words } from "../protocol/messages";
import type { Group, Picture } from "./picture";
import type { Translation } from "./translation";

/**
 * What a head's row is about, and where it looked most; tokens are named by the whole words that
 * they belong to.
 */
export interface Looked {
  kind: Kind;
  /** Of a head that aligns: what its rows belong to. */
  reading: Reading | "";
  reads: string;
  predicts: string;
  key: string;
  /** It looked at its own token. */
  itself: boolean;
}

/** Where the row `i` of a picture looked most; null: there is no such row. */
export const lookedAt = (
  { words }: Pick<Translation, "words">,
  { rows, columns, z, masked }: Picture,
  i: number,
  kind: Kind,
  reading: Reading | "" = "",
): Looked | null => {
  const row = rows[i];
  if (!row) return null;
  const seen = z[i].map((weight, j) => (masked(i, j) ? -1 : weight));
  const key = columns[seen.indexOf(Math.max(...seen))];
  if (!key) return null;
  const own = kind === "encoder" ? words?.src : words?.reads;
  const [reads, predicts] = [row.reads ?? row.text, row.predicts ?? ""];
  return {
    kind,
    reading,
    reads: quoted(partOfWord(own, row.ids[0], reads)),
    predicts: quoted(partOfWord(words?.tgt, row.ids[row.ids.length - 1], predicts)),
    key: quoted(wholeKey(words, kind, row, key)),
    itself: kind !== "cross" && key.ids[0] === row.ids[0],
  };
};

/**
 * A mark in quotes, so that it is not taken for one of the sentence's own; one that quotes itself
 * would be lost among them.
 */
const quoted = (text: string): string =>
  /^[\p{P}\p{S}]+$/u.test(text) && !/[\p{Pi}\p{Pf}"„]/u.test(text) ? t("“{text}”", { text }) : text;

/** The word that a token is only a part of; "": it is a whole one. */
const wordOf = (words: Words | undefined, id: number): string => {
  const own = words?.g[id];
  return words && own !== undefined && words.g.filter((each) => each === own).length > 1
    ? words.s[own]
    : "";
};

/**
 * The token of a row, with its word where that is more: rows of one word look at different keys.
 */
const partOfWord = (words: Words | undefined, id: number, part: string): string => {
  const word = wordOf(words, id);
  return word && word !== part ? t("{part} (part of {word})", { part, word }) : part;
};

/** The word that a key is a part of; the part itself where the row is of that same word. */
const wholeKey = (words: Translation["words"], kind: Kind, row: Group, key: Group): string => {
  const keys = kind === "decoder" ? words?.reads : words?.src;
  const inRow = (other: Words | undefined, of: number, at: number) =>
    other?.g[of] !== undefined && other.g[of] === other.g[at];
  const same =
    (kind === "encoder" && inRow(words?.src, row.ids[0], key.ids[0])) ||
    (kind === "decoder" && inRow(words?.reads, row.ids[0], key.ids[0])) ||
    (kind === "decoder" && inRow(words?.tgt, row.ids[row.ids.length - 1], key.ids[0] - 1));
  return (!same && wordOf(keys, key.ids[0])) || key.text;
};

/** The sentence, with holes for the tokens: {reads}, {predicts}, {key}. */
export const sentenceOf = ({ kind, reading, itself }: Looked): Sentence => {
  if (kind === "encoder")
    return itself
      ? "Reading {reads}, this head looked at that token itself"
      : "Reading {reads}, this head looked at {key}";
  if (kind === "decoder")
    return itself
      ? "To write {predicts}, this head looked at {key}, the token just written"
      : "To write {predicts}, this head looked back at {key}";
  return reading === "input"
    ? "Having written {reads}, this head looked at {key}"
    : "When it wrote {predicts}, this head looked at {key}";
};
