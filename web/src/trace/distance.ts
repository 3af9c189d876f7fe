/* How far two maps are apart. */

import type { Kind } from "../protocol/messages";
import { type Slicing, slice } from "./picture";
import type { Translation } from "./translation";

/** Half the summed distance of two rows (total variation): 0 alike, 1 apart. */
const rowDistance = (one: number[], other: number[]): number =>
  one.reduce((sum, weight, j) => sum + Math.abs(weight - other[j]), 0) / 2;

/**
 * The encoder head whose row of one source token differs most between two sentences of equal
 * length, or null.
 */
export const mostDifferentHead = (
  a: Translation,
  b: Translation,
  query: number,
): { layer: number; head: number } | null => {
  const { layers, heads, columns } = a.maps.encoder;
  if (columns !== b.maps.encoder.columns || b.maps.encoder.layers !== layers) return null;
  const row = (trace: Translation, layer: number, head: number) =>
    Array.from(trace.head("encoder", layer, head).subarray(query * columns, (query + 1) * columns));
  let best = { layer: 0, head: 0, distance: -1 };
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const distance = rowDistance(row(a, layer, head), row(b, layer, head));
      if (distance > best.distance) best = { layer, head, distance };
    }
  return { layer: best.layer, head: best.head };
};

/**
 * Half the summed distance of each row (total variation), averaged over the rows: 0 alike, 1 apart;
 * null where the shapes differ.
 */
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
  return one.z.reduce((sum, row, i) => sum + rowDistance(row, other.z[i]), 0) / one.rows.length;
};
