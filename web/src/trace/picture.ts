/* The picture of a map: what one row or one column of it stands for, and its numbers. */

import { SPECIAL, UNKNOWN } from "../protocol/flags";
import type { Kind, Token, Words } from "../protocol/messages";
import type { Translation } from "./translation";

export type Unit = "sub" | "word";
export type Specials = "shown" | "hidden" | "renormalised";
export interface Slicing {
  unit: Unit;
  /** "shown", "hidden", or "renormalised": hidden, and every row sums to 1 again. */
  specials: Specials;
}

/** One or several tokens that are one row or one column. */
export interface Group {
  ids: number[];
  text: string;
  special: boolean;
  unknown: boolean;
  /**
   * Of a row of decoder and cross attention: the token that it reads, and the one that it predicts.
   */
  reads?: string;
  predicts?: string;
}

export interface Picture {
  rows: Group[];
  columns: Group[];
  /** Weights, [rows][columns]. */
  z: number[][];
  /** Whether a cell lies in the future of its row. */
  masked: (i: number, j: number) => boolean;
  /** The share of the weight that is not shown. */
  hidden: number;
}

const group = (token: Token, text: string): Group => ({
  ids: [],
  text,
  special: !!(token.f & SPECIAL),
  unknown: !!(token.f & UNKNOWN),
});

const single = (tokens: Token[]): Group[] =>
  tokens.map((token, i) => ({ ...group(token, token.s), ids: [i] }));

const byWord = (tokens: Token[], words: Words): Group[] => {
  const groups: Group[] = [];
  words.g.forEach((place, i) => {
    groups[place] ??= group(tokens[i], words.s[place]);
    groups[place].ids.push(i);
  });
  return groups;
};

/**
 * Row and column groups of a kind, before anything is hidden. Cross rows belong to the word they
 * predict.
 */
const groupsOf = (
  trace: Translation,
  kind: Kind,
  unit: Unit,
): Pick<Picture, "rows" | "columns"> => {
  const of = (side: "src" | "reads" | "tgt") =>
    unit === "word" && trace.words ? byWord(trace[side], trace.words[side]) : single(trace[side]);
  const keys = of(kind === "decoder" ? "reads" : "src");
  if (kind === "encoder") return { rows: keys, columns: keys };
  const targets = of("tgt");
  const sources = of("reads");
  const owners = kind === "cross" ? targets : sources;
  const holding = (groups: Group[], id: number) => groups.find((each) => each.ids.includes(id));
  const rows = owners.map((owner) => ({
    ...owner,
    reads: holding(sources, owner.ids[0])!.text,
    predicts: holding(targets, owner.ids[owner.ids.length - 1])!.text,
    special: sources === owners ? owner.special : false,
  }));
  return { rows, columns: keys };
};

/**
 * The picture of one map [rows, columns]: sums over the pieces of a key, averages over the pieces
 * of a query.
 */
export const slice = (
  trace: Translation,
  kind: Kind,
  map: Float32Array,
  { unit, specials }: Slicing,
): Picture => {
  const { rows: allRows, columns: allColumns } = groupsOf(trace, kind, unit);
  const width = trace.maps[kind].columns;
  const keep = (each: Group) => specials === "shown" || !each.special;
  const rows = kind === "encoder" ? allRows.filter(keep) : allRows;
  const columns = allColumns.filter(keep);
  let hidden = 0;
  const z = rows.map((row) => {
    const values = columns.map((column) => {
      let sum = 0;
      for (const i of row.ids) for (const j of column.ids) sum += map[i * width + j];
      return sum / row.ids.length;
    });
    const total = values.reduce((a, b) => a + b, 0);
    hidden += Math.max(0, 1 - total) / rows.length;
    return specials === "renormalised" && total > 0 ? values.map((value) => value / total) : values;
  });
  const masked = (i: number, j: number) =>
    kind === "decoder" && columns[j].ids[0] > rows[i].ids[rows[i].ids.length - 1];
  return { rows, columns, z, masked, hidden };
};

/**
 * A key and how much of a row it gets; `position` counts from 1, and stands where its text is not
 * the only such.
 */
export interface Link {
  weight: number;
  j: number;
  text: string;
  position: string;
}

/** The strongest links of one row; a text that stands twice among the keys carries its position. */
export const strongest = (picture: Picture, row: number, count: number): Link[] => {
  const texts = picture.columns.map((column) => column.text);
  const alone = (text: string) => texts.indexOf(text) === texts.lastIndexOf(text);
  return (picture.z[row] || [])
    .map((weight, j) => ({
      weight,
      j,
      text: texts[j],
      position: alone(texts[j]) ? "" : String(picture.columns[j].ids[0] + 1),
    }))
    .filter((link) => !picture.masked(row, link.j))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, count);
};
