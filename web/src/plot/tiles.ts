/* Every head's map as a small picture, all of them on one sheet. */

import type { Colour } from "../design/colour";
import { clamp } from "../format/number";
import type { Kind } from "../protocol/messages";
import type { Maps, Translation } from "../trace/translation";
import type { Sheet } from "./cells";

/** The largest weight of each row. */
const rowPeaks = (values: Float32Array, rows: number, columns: number): number[] =>
  Array.from({ length: rows }, (_, i) => {
    let best = 1e-9;
    for (let j = 0; j < columns; j++)
      if (values[i * columns + j] > best) best = values[i * columns + j];
    return best;
  });

/** The largest weight in rows a to c and columns b to d; -1: all of them lie in the future. */
const largest = (
  values: Float32Array,
  columns: number,
  peaks: number[] | null,
  causal: boolean,
  [a, c, b, d]: readonly number[],
): number => {
  let best = causal ? -1 : 0;
  for (let i = a; i < c; i++)
    for (let j = b; j < d; j++) {
      if (causal && j > i) break;
      const weight = values[i * columns + j] / (peaks ? peaks[i] : 1);
      if (weight > best) best = weight;
    }
  return best;
};

/** How many cells share a pixel, and the picture's size. */
const fitted = (map: Maps, limit: number) => {
  const across = Math.ceil(map.columns / limit);
  const down = Math.ceil(map.rows / limit);
  return { across, down, w: Math.ceil(map.columns / across), h: Math.ceil(map.rows / down) };
};

/**
 * Each head's map as a small picture, w by h pixels, none above `limit`, in the colours of `table`;
 * head by head in rows on one sheet.
 */
export const tileImages = (
  trace: Translation,
  kind: Kind,
  table: Colour[],
  limit: number,
  scale: "linear" | "root" | "row",
): Sheet => {
  const map = trace.maps[kind];
  const { across, down, w, h } = fitted(map, limit);
  const sheet = document.createElement("canvas");
  sheet.width = Math.max(1, w * map.heads);
  sheet.height = Math.max(1, h * map.layers);
  const context = sheet.getContext("2d")!;
  const image = context.createImageData(sheet.width, sheet.height);
  const paint = (l: number, head: number) => {
    const values = trace.head(kind, l, head);
    const peaks = scale === "row" ? rowPeaks(values, map.rows, map.columns) : null;
    const block = [0, 0, 0, 0]; // one for all cells: there may be a million
    for (let i = 0; i < h; i++)
      for (let j = 0; j < w; j++) {
        block[0] = i * down;
        block[1] = Math.min((i + 1) * down, map.rows);
        block[2] = j * across;
        block[3] = Math.min((j + 1) * across, map.columns);
        const best = largest(values, map.columns, peaks, kind === "decoder", block);
        const colour = table[Math.round(256 * clamp(best, 0, 1))];
        const at = 4 * ((l * h + i) * sheet.width + head * w + j);
        image.data[at] = colour[0];
        image.data[at + 1] = colour[1];
        image.data[at + 2] = colour[2];
        image.data[at + 3] = best < 0 ? 0 : 255;
      }
  };
  for (let l = 0; l < map.layers; l++) for (let head = 0; head < map.heads; head++) paint(l, head);
  context.putImageData(image, 0, 0);
  return { sheet, w, h };
};
