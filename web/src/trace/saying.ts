/* What is seen, in a sentence: what the chosen head did in the present row of this very translation. */

import type { Kind, Reading } from "../protocol/messages";
import type { Sentence } from "../i18n/words";
import type { Picture } from "./picture";

/** What a head's row is about, and where it looked most. */
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
  { rows, columns, z, masked }: Picture,
  i: number,
  kind: Kind,
  reading: Reading | "" = "",
): Looked | null => {
  const row = rows[i];
  if (!row) return null;
  const seen = z[i].map((weight, j) => (masked(i, j) ? -1 : weight));
  const j = seen.indexOf(Math.max(...seen));
  if (!columns[j]) return null;
  const reads = row.reads ?? row.text;
  const itself = kind !== "cross" && columns[j].ids[0] === row.ids[0];
  return { kind, reading, reads, predicts: row.predicts ?? "", key: columns[j].text, itself };
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
