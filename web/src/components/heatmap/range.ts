/* Which part of a map is in sight. Numbers only. */

import { clamp } from "../../format/number";
import type { Range } from "../../plot/heat";
import type { MapSize } from "../../plot/measure";
import type { Picture } from "../../trace/picture";
import type { Cell } from "../../state/view";

/** The first column (x) and row (y) in sight. */
export interface First {
  x: number;
  y: number;
}

export const START: First = { x: 0, y: 0 };

/** The ends of both axes, where a map begins at `first`. */
export const rangeFrom = (picture: Picture, size: MapSize, first: First): Range => {
  const x = clamp(first.x, 0, picture.columns.length - size.columns);
  const y = clamp(first.y, 0, picture.rows.length - size.rows);
  return { x: [x - 0.5, x + size.columns - 0.5], y: [y + size.rows - 0.5, y - 0.5] };
};

/**
 * Where a frame that is too small for the whole map begins, to hold `row` and its strongest cell.
 */
export const revealed = (picture: Picture, size: MapSize, first: First, row: number): First => {
  const values = picture.z[row] || [];
  const column = values.indexOf(Math.max(...values));
  const inside = (at: number, from: number, shown: number) => at >= from && at < from + shown;
  const middle = (at: number, shown: number, all: number) =>
    clamp(at - Math.floor(shown / 2), 0, all - shown);
  return {
    x:
      size.columns >= picture.columns.length || inside(column, first.x, size.columns)
        ? first.x
        : middle(column, size.columns, picture.columns.length),
    y: inside(row, first.y, size.rows) ? first.y : middle(row, size.rows, picture.rows.length),
  };
};

/** The least change of `first` that brings a cell into sight. */
export const following = (first: First, size: MapSize, { i, j }: Cell): First => ({
  x: clamp(first.x, j - size.columns + 1, j),
  y: clamp(first.y, i - size.rows + 1, i),
});

/** Whether a range shows all of a map. */
export const isWhole = ({ x, y }: Range, { rows, columns }: Picture): boolean =>
  x[0] <= -0.5 && x[1] >= columns.length - 0.5 && y[1] <= -0.5 && y[0] >= rows.length - 0.5;

/** A range whose ends lie between cells. */
export const rounded = ({ x, y }: Range): Range => {
  const whole = ([a, b]: [number, number]): [number, number] => [
    Math.round(a * 2) / 2,
    Math.round(b * 2) / 2,
  ];
  return { x: whole(x), y: whole(y) };
};

/** A range made narrower or wider by `factor` round a cell; null: all of the map is in sight. */
export const magnified = (
  range: Range,
  picture: Picture,
  cell: Cell,
  factor: number,
): Range | null => {
  const span = (ends: [number, number], centre: number, count: number): [number, number] => {
    const half = Math.max(2, Math.abs(ends[1] - ends[0]) * factor) / 2;
    return [Math.max(-0.5, centre - half), Math.min(count - 0.5, centre + half)];
  };
  const x = span(range.x, cell.j, picture.columns.length);
  const [top, bottom] = span(range.y, cell.i, picture.rows.length);
  const next: Range = { x, y: [bottom, top] };
  return isWhole(next, picture) ? null : next;
};
