/* How large a map is drawn. */

import { clamp } from "../format/number";
import { cut } from "../format/text";
import type { Group, Picture } from "../trace/picture";

const SMALLEST_COLUMN = 16; // pixels, as all that follow
const SMALLEST_ROW = 14;
const WIDEST = 48;
const TALLEST = 36;
const ON_PHONES = 28; // a row's height
const CAPTION = 190; // the longest caption over the columns

/** Pixels of a map: what is around it, one cell, and how many cells fit before the frame has to scroll. */
export interface MapSize {
  /** Left of the cells. */
  labels: number;
  top: number;
  right: number;
  cellWidth: number;
  cellHeight: number;
  columns: number;
  rows: number;
}

/** How far the label of a column reaches up, and over its neighbours: 13 pixels a sign where signs are wide, some 7 else. */
const reach = (group: Group, small = false): number => {
  const long = [...cut(group.text)].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 13 : 7.2), 0);
  return long * (small ? 11 / 13 : Math.SQRT1_2);
};

/** Sizes of a map in a frame of `width` and `room` pixels; `top` is the least that stands over its cells. */
export const measureMap = (
  width: number,
  room: number,
  picture: Pick<Picture, "rows" | "columns">,
  { labels, top: least, small }: { labels: number; top: number; small: boolean },
): MapSize => {
  const rows = picture.rows.length;
  const columns = picture.columns.length;
  const beside = small ? 2 : Math.max(28, reach(picture.columns[columns - 1]));
  const labelled = Math.ceil(Math.max(...picture.columns.map((group) => reach(group, small))));
  const top = Math.max(least, labelled + 30); // the caption stands over the labels
  const free = width - labels - beside;
  const cellWidth = Math.max(SMALLEST_COLUMN, Math.min(WIDEST, free / columns));
  const cellHeight = small
    ? ON_PHONES
    : clamp(Math.min(cellWidth * 1.15, (room - top) / rows), SMALLEST_ROW, TALLEST);
  const fitX = Math.max(1, Math.floor(free / cellWidth + 0.001));
  const fitY = small ? rows : Math.max(6, Math.floor((room - top) / cellHeight + 0.001));
  return {
    labels,
    top,
    right: Math.max(beside, Math.min(CAPTION, width - labels) - cellWidth * columns), // the caption is longer than few columns
    cellWidth,
    cellHeight,
    columns: Math.min(columns, fitX),
    rows: Math.min(rows, fitY),
  };
};

/** The same size, for a picture that shows the whole map. */
export const whole = (
  size: MapSize,
  { rows, columns }: Pick<Picture, "rows" | "columns">,
): MapSize => ({
  ...size,
  rows: rows.length,
  columns: columns.length,
});
