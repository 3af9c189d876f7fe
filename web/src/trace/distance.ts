/* How far two maps are apart. */

import type { Kind } from "../protocol/messages";
import { type Slicing, slice } from "./picture";
import type { Translation } from "./translation";

/** Half the summed distance of each row (total variation), averaged over the rows: 0 alike, 1 apart; null where the shapes differ. */
export const headDistance = (
  a: Translation,
  b: Translation,
  kind: Kind,
  layer: number,
  head: number,
  slicing: Slicing,
): number | null => {
  const one = slice(a, kind, a.head(kind, layer, head), slicing);
  const other = slice(b, kind, b.head(kind, layer, head), slicing);
  if (one.rows.length !== other.rows.length || one.columns.length !== other.columns.length)
    return null;
  return (
    one.z.reduce(
      (sum, row, i) =>
        sum + row.reduce((s, weight, j) => s + Math.abs(weight - other.z[i][j]), 0) / 2,
      0,
    ) / one.rows.length
  );
};
