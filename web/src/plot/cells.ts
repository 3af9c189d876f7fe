/* The cells of a map as numbers for Plotly and as pictures of one pixel a cell. */

import type { Colour } from "../design/colour";
import { el } from "../dom/element";
import { clamp } from "../format/number";
import type { Picture } from "../trace/picture";

/** What Plotly draws, [rows][columns]; null: nothing. */
export type Cells = (number | null)[][];

/** Pictures of w by h pixels each, side by side. */
export interface Sheet {
  sheet: HTMLCanvasElement;
  w: number;
  h: number;
}

/** Pixels between two cells. */
export const gapOf = (size: { cellWidth: number; cellHeight: number }): number =>
  size.cellWidth > 12 && size.cellHeight > 9 ? 1 : 0.5;

/**
 * What Plotly draws: nothing where a row cannot look, and by choice each row in shares of its
 * largest weight.
 */
export const shownCells = (
  { z, masked }: Pick<Picture, "z" | "masked">,
  scale: "linear" | "root" | "row",
): Cells =>
  z.map((values, i) => {
    const peak = scale === "row" ? Math.max(...values, 1e-9) : 1;
    return values.map((weight, j) => (masked(i, j) ? null : weight / peak));
  });

/**
 * One of the pictures on a sheet in whole multiples of its size: a viewer that smooths leaves its
 * cells sharp.
 */
export const enlarged = (
  { sheet, w, h }: Sheet,
  column: number,
  row: number,
  size: number,
): string => {
  const canvas = document.createElement("canvas");
  canvas.width = w * Math.max(1, Math.ceil(size / w));
  canvas.height = h * Math.max(1, Math.ceil(size / h));
  const context = canvas.getContext("2d")!;
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, column * w, row * h, w, h, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
};

/**
 * Cells as a picture of one pixel each, as Plotly makes of a map without gaps, or enlarged to
 * `size` or a little more; null is clear.
 */
export const cellPicture = (cells: Cells, table: Colour[], size = 0): string => {
  const canvas = el("canvas", { width: cells[0].length, height: cells.length });
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(canvas.width, canvas.height);
  cells.flat().forEach((weight, n) => {
    if (weight !== null)
      image.data.set([...table[Math.round(256 * clamp(weight, 0, 1))], 255], 4 * n);
  });
  context.putImageData(image, 0, 0);
  return size
    ? enlarged({ sheet: canvas, w: canvas.width, h: canvas.height }, 0, 0, size)
    : canvas.toDataURL();
};
