/* How large a map is drawn. */

import { clamp } from "../format/number";
import { cut } from "../format/text";
import type { Group, Picture } from "../trace/picture";

const SMALLEST_COLUMN = 12; // pixels, as all that follow
const SMALLEST_ROW = 14;
const WIDEST = 128;
const TALLEST = 64;
const ON_PHONES = 28; // a row's height
const CAPTION = 190; // the longest caption over the columns
const SMALLEST_TEXT = 10;
// widths of a column in sizes of its name, from which slanted names do not touch
const SLANTED = 1.65;
const UPRIGHT = 1.15; // and upright ones

/**
 * Pixels of a map: what is around it, one cell, and how many cells fit before the frame has to
 * scroll.
 */
export interface MapSize {
  /** Left of the cells. */
  labels: number;
  top: number;
  right: number;
  cellWidth: number;
  cellHeight: number;
  columns: number;
  rows: number;
  /** The size of captions, and of a row's name where there is room for it. */
  text: number;
  names: { upright: boolean; text: number; columns: number; rows: number };
}

/** What a map is measured by. */
export interface MapRoom {
  /** Pixels left of the cells. */
  labels: number;
  /** The least that stands over them. */
  top: number;
  small: boolean;
  /** The size of names. */
  text?: number;
  /** All of the map is shown, however small its cells are. */
  fit?: boolean;
}

/**
 * How far the label of a column reaches up, and over its neighbours: as wide as its size where
 * signs are wide, some 55% else.
 */
const reach = (group: Group, text: number, upright: boolean): number => {
  const long = [...cut(group.text)].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 1 : 0.555), 0);
  return long * text * (upright ? 1 : Math.SQRT1_2);
};

/**
 * How the columns' names stand: slanted where there is room, else upright, smaller, and at last
 * only some of them.
 */
const namesOf = (
  width: number,
  columns: Group[],
  { text = 13, small, fit }: MapRoom,
): { upright: boolean; text: number; beside: number; cellWidth: number } => {
  const cellIn = (beside: number) => {
    const fitted = (width - beside) / columns.length;
    return clamp(fitted, fit ? 2 : SMALLEST_COLUMN, WIDEST);
  };
  const last = columns[columns.length - 1];
  const beside = Math.max(28, reach(last, text, false));
  const slanted = cellIn(beside);
  if (!small && slanted >= SLANTED * text)
    return { upright: false, text, beside, cellWidth: slanted };
  const cellWidth = cellIn(2);
  const most = small ? 11 : text;
  const size = clamp(Math.floor(cellWidth / UPRIGHT), Math.min(most, SMALLEST_TEXT), most);
  return { upright: true, text: size, beside: 2, cellWidth };
};

/** The height of a row. */
const heightOf = (free: number, rows: number, cellWidth: number, { small, fit }: MapRoom) => {
  if (fit) return clamp(free / rows, 2, Math.min(TALLEST, Math.max(SMALLEST_ROW, cellWidth * 1.6)));
  return small ? ON_PHONES : clamp(Math.min(cellWidth * 1.15, free / rows), SMALLEST_ROW, TALLEST);
};

/** Sizes of a map in a frame of `width` and `room` pixels. */
export const measureMap = (
  width: number,
  room: number,
  picture: Pick<Picture, "rows" | "columns">,
  by: MapRoom,
): MapSize => {
  const { labels, small, fit, text = 13 } = by;
  const rows = picture.rows.length;
  const columns = picture.columns.length;
  const names = namesOf(width - labels, picture.columns, by);
  const { upright, beside, cellWidth } = names;
  const high = picture.columns.map((group) => reach(group, names.text, upright));
  // the caption stands over the labels
  const top = Math.max(by.top, Math.ceil(Math.max(...high)) + 17 + text);
  const cellHeight = heightOf(room - top, rows, cellWidth, by);
  const fitX = Math.max(1, Math.floor((width - labels - beside) / cellWidth + 0.001));
  const fitY = Math.max(6, Math.floor((room - top) / cellHeight + 0.001));
  return {
    labels,
    top,
    // the caption is longer than few columns
    right: Math.max(beside, Math.min(CAPTION, width - labels) - cellWidth * columns),
    cellWidth,
    cellHeight,
    columns: fit ? columns : Math.min(columns, fitX),
    rows: fit || small ? rows : Math.min(rows, fitY),
    text,
    names: {
      upright,
      text: names.text,
      columns: Math.ceil(((upright ? UPRIGHT : SLANTED) * names.text) / cellWidth - 0.01),
      rows: Math.ceil(SMALLEST_TEXT / cellHeight - 0.01),
    },
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
