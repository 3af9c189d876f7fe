/* A table of positions as the three figures of figures/positions.py: Python draws them empty, the
   numbers come in here. */

import type { Figure } from "../../plot/plotly";
import { LIMITS, POSITIONS } from "../../protocol/registry";

/** A table [rows, columns]: what is added to the vector of a token at each position. */
export interface Table {
  values: Float32Array;
  rows: number;
  columns: number;
}

/** A figure of both themes, as `translator.ui.explorer.show` makes it. */
export interface Drawn {
  light: Figure;
  dark: unknown[];
}

/** The figures of a table of nothing, which the exporter writes. */
export interface Templates {
  heatmap: Drawn;
  curves: Drawn;
  similarity: Drawn;
}

const MOST_CURVES = POSITIONS.curves_at_most;

/** Why the dimensions cannot be drawn, in the words of ui/positions_tab.py. */
export class NoDimension extends Error {
  override name = "NoDimension";
}

/** The first rows and columns of a table. */
export const corner = (table: Table, rows: number, columns: number): Table => {
  const [height, width] = [Math.min(rows, table.rows), Math.min(columns, table.columns)];
  const values = new Float32Array(height * width);
  for (let row = 0; row < height; row++) {
    const from = row * table.columns;
    values.set(table.values.subarray(from, from + width), row * width);
  }
  return { values, rows: height, columns: width };
};

/** The dimensions named in a text such as "5, 6, 10-12", counted from 0. */
export const dimensionsIn = (text: string, width: number): number[] => {
  if (text.length > LIMITS.characters)
    throw new NoDimension("name the dimensions of the curves like this: 5, 6, 10-12");
  const found: number[] = [];
  for (const part of text.split(/[\s,;，、]+/).filter(Boolean)) {
    const [, first, second = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === undefined)
      throw new NoDimension(
        `'${part.slice(0, 20)}' is no dimension; write them like this: 5, 6, 10-12`,
      );
    const [low, high] = [Number(first), Number(second)].sort((a, b) => a - b) as [number, number];
    for (let each = low; each <= high; each++) found.push(each);
  }
  if (found.length < 1 || found.length > MOST_CURVES)
    throw new NoDimension(
      `${found.length} curves were requested; only 1 to ${MOST_CURVES} can be told apart`,
    );
  const most = Math.max(...found);
  if (most >= width)
    throw new NoDimension(
      `dimension ${most} is beyond the last one, ${width - 1}; choose a smaller one or more dimensions`,
    );
  return found;
};

const places = ({ rows }: Table): number[] => Array.from({ length: rows }, (_, row) => row);

const rowsOf = ({ values, rows, columns }: Table): Float32Array[] =>
  Array.from({ length: rows }, (_, row) => values.subarray(row * columns, (row + 1) * columns));

const most = (rows: readonly ArrayLike<number>[]): number =>
  rows.reduce(
    (best, row) => Array.from(row).reduce((top, value) => Math.max(top, Math.abs(value)), best),
    0,
  );

/** A copy of a figure whose traces are `traces`, each on top of what the first has. */
const filled = ({ light, dark }: Drawn, traces: object[]): string => {
  const data = traces.map((trace) => ({ ...light.data[0], ...trace }));
  return JSON.stringify({ light: { ...light, data }, dark });
};

/** `positional_heatmap`. */
export const heatmapOf = (drawn: Drawn, table: Table): string => {
  const z = rowsOf(table);
  const limit = Math.max(1, most(z));
  const numbers = z.map((row) => Array.from(row));
  return filled(drawn, [{ z: numbers, y: places(table), zmin: -limit, zmax: limit }]);
};

/** `positional_curves`. */
export const curvesOf = (drawn: Drawn, table: Table, dimensions: readonly number[]): string => {
  const rows = rowsOf(table);
  const curve = (each: number) => ({
    x: places(table),
    y: rows.map((row) => row[each]!),
    name: `dim ${each}`,
  });
  return filled(drawn, dimensions.map(curve));
};

/** `similarity_matrix`. */
export const similarityOf = (drawn: Drawn, table: Table): string => {
  const rows = rowsOf(table);
  const z = rows.map((a) => rows.map((b) => a.reduce((sum, value, k) => sum + value * b[k]!, 0)));
  const limit = Math.max(most(z), 1e-12);
  const x = places(table);
  return filled(drawn, [{ z, x, y: x, zmin: -limit, zmax: limit }]);
};
