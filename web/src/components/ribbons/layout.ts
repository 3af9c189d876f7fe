/* Where the words of the rows stand: below each other, or beside each other on a narrow page. */

import { textWidth } from "../../dom/text-width";
import { clamp } from "../../format/number";

export interface Row {
  name: string;
  words: string[];
  lang?: string;
  /** Which words are marked. */
  fresh?: boolean[];
}

/**
 * A word's place in pixels; `left` and `right` are the ends of its column, where rows stand beside
 * each other.
 */
export interface WordPlace {
  x: number;
  y: number;
  left: number;
  right: number;
  anchor: string;
}

type Point = [x: number, y: number];

export interface RibbonLayout {
  places: WordPlace[][];
  names: { x: number; y: number; anchor: string }[];
  width: number;
  height: number;
  /** Pixels of a ribbon whose weight is 1. */
  thick: number;
  narrow: boolean;
  /** Size of the words. */
  size: number;
  /** Where a ribbon begins and where it ends. */
  ends: (a: WordPlace, b: WordPlace) => [Point, Point];
}

const NAME = 13; // pixels, as all that follow
const STEP = 146; // from row to row
const WIDEST = 320; // between two rows that stand beside each other
const LINE = 28; // from word to word, where they stand below each other

const total = (numbers: number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const NEAREST = 7; // pixels between two words

/**
 * The size at which every row fits the width, 16 pixels at most and 13 at least; null: none does.
 */
const fitting = (rows: Row[], room: number): number | null => {
  const fits = (size: number) =>
    rows.every(
      ({ words }) =>
        total(words.map((word) => textWidth(word, size))) + NEAREST * (words.length - 1) <= room,
    );
  return [16, 15, 14, 13].find(fits) ?? null;
};

const marginOf = (rows: Row[]): number =>
  Math.max(...rows.map((row) => textWidth(row.name, NAME, 600))) + 20;

/** Whether rows of words fit below each other into a width. */
export const fitsAcross = (rows: Row[], width: number): boolean =>
  fitting(rows, width - marginOf(rows) - 12) !== null;

/** Rows below each other; the longest fills the width. */
export const rowsAcross = (rows: Row[], width: number): RibbonLayout => {
  const margin = marginOf(rows);
  const room = width - margin - 12;
  const size = fitting(rows, room) ?? 13;
  const sums = rows.map((row) => total(row.words.map((word) => textWidth(word, size))));
  const gaps = rows.map((row) => Math.max(row.words.length - 1, 1));
  const gap = clamp(Math.min(...sums.map((sum, r) => (room - sum) / gaps[r])), NEAREST, 18);
  const wide = Math.max(room, ...sums.map((sum, r) => sum + gap * gaps[r]));
  const places = rows.map((row, r) => {
    const free = clamp((wide - sums[r]) / gaps[r], gap, 78);
    let left = margin;
    return row.words.map((word) => {
      const right = left + textWidth(word, size);
      const place = { x: (left + right) / 2, y: 20 + r * STEP, left, right, anchor: "middle" };
      left = right + free;
      return place;
    });
  });
  return {
    places,
    names: rows.map((_, r) => ({ x: 0, y: 20 + r * STEP, anchor: "start" })),
    width: margin + wide + 12,
    height: 40 + STEP * (rows.length - 1),
    thick: 15,
    narrow: false,
    size,
    ends: (a, b) => [
      [a.x, a.y + 9],
      [b.x, b.y - 18],
    ],
  };
};

/** Rows beside each other, for a narrow page or a long sentence. */
export const rowsDown = (rows: Row[], width: number): RibbonLayout => {
  const size = 13;
  const last = rows.length - 1;
  const widths = rows.map((row) =>
    Math.max(...row.words.map((word) => textWidth(word, size)), textWidth(row.name, size, 600)),
  );
  const between = clamp((width - total(widths)) / last, 32, WIDEST);
  const high = LINE * Math.max(...rows.map((row) => row.words.length));
  const starts = widths.map((_, r) => total(widths.slice(0, r)) + r * between);
  const anchors = rows.map((_, r) => (r === 0 ? "start" : r === last ? "end" : "middle"));
  const x = rows.map((_, r) => starts[r] + (r === 0 ? 0 : r === last ? widths[r] : widths[r] / 2));
  const places = rows.map((row, r) =>
    row.words.map((_, i) => ({
      x: x[r],
      y: 44 + ((i + 0.5) * high) / row.words.length,
      left: starts[r] - 5,
      right: starts[r] + widths[r] + 5,
      anchor: anchors[r],
    })),
  );
  return {
    places,
    names: rows.map((_, r) => ({ x: x[r], y: 14, anchor: anchors[r] })),
    width: total(widths) + between * last,
    height: 56 + high,
    thick: 10,
    narrow: true,
    size,
    ends: (a, b) => [
      [a.right, a.y - 4],
      [b.left, b.y - 4],
    ],
  };
};
