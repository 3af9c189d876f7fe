/* Two translations beside each other: the difference of two maps, and the words that one of them
   lacks. */

import { SPACE, SPECIAL } from "../protocol/flags";
import type { Group, Picture } from "./picture";
import type { Translation } from "./translation";

export const sameShape = (a: Picture, b: Picture): boolean =>
  a.rows.length === b.rows.length && a.columns.length === b.columns.length;

const join = (one = "", two = ""): string => (one === two ? one : `${one} / ${two}`);

const joined = (one: Group[], two: Group[]): Group[] =>
  one.map((group, i) => ({
    ...group,
    text: join(group.text, two[i].text),
    reads: join(group.reads, two[i].reads),
    predicts: join(group.predicts, two[i].predicts),
  }));

/** B − A, cell by cell; null where the shapes differ. Where names differ, both stand. */
export const differenceOf = (a: Picture, b: Picture): Picture | null =>
  sameShape(a, b)
    ? {
        ...a,
        rows: joined(a.rows, b.rows),
        columns: joined(a.columns, b.columns),
        z: a.z.map((row, i) => row.map((weight, j) => b.z[i][j] - weight)),
      }
    : null;

/** A word of a translation; `own`: the other translation lacks it. */
export interface Word {
  text: string;
  own: boolean;
  /** A space stands before it. */
  space: boolean;
}

/** The words of a translation, marked where `other` lacks them. */
export const wordsBeside = (trace: Translation, other: Translation): Word[] => {
  const spare = [...other.words!.tgt.s];
  const { g, s } = trace.words!.tgt;
  return s.flatMap((text, place) => {
    const first = trace.tgt[g.indexOf(place)];
    if (first.f & SPECIAL) return [];
    const at = spare.indexOf(text);
    if (at >= 0) spare.splice(at, 1);
    return [{ text, own: at < 0, space: !!(first.f & SPACE) }];
  });
};
