/* The mosaic's canvas: every tile with what marks it. */

import { HEAD_COLOURS, colour } from "../../design/scales";
import { sans } from "../../dom/screen";
import type { Sheet } from "../../plot/cells";
import type { Layout, Tile } from "./layout";

/** What is drawn beside the maps themselves. */
export interface Marks {
  /** The present row, and how many there are. */
  row: number;
  rows: number;
  /** The present row alone fills each tile. */
  rowOnly: boolean;
  /** Rows below the present one are faded. */
  future: boolean;
  playing: boolean;
  isChosen(tile: Tile): boolean;
  /** It does not have the role that is looked for. */
  isFaded(tile: Tile): boolean;
  /** The number of its colour among heads that lie over each other; -1: it is none. */
  overlay(tile: Tile): number;
  /** Its name, where no row and column says it. */
  name(tile: Tile): string | null;
}

/** As sharp as the screen is; cleared. */
const prepared = (canvas: HTMLCanvasElement, { width, height }: Layout) => {
  const ratio = devicePixelRatio || 1;
  const size = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) {
    [canvas.width, canvas.height] = size;
    canvas.style.height = height + "px";
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  return context;
};

const colours = () => ({
  edge: colour("line"),
  ink: colour("ink2"),
  page: colour("page"),
  now: colour("here"),
  font: "11px " + sans(),
});

type Pen = CanvasRenderingContext2D;
type Colours = ReturnType<typeof colours>;

const drawMap = (pen: Pen, { sheet, w, h }: Sheet, tile: Tile, marks: Marks) => {
  const line = Math.min(h - 1, Math.floor((marks.row * h) / marks.rows));
  const [first, tall] = marks.rowOnly ? [tile.l * h + line, 1] : [tile.l * h, h];
  pen.drawImage(sheet, tile.h * w, first, w, tall, tile.x, tile.y, tile.w, tile.tall);
};

/** The rows to come, and where the present one is. */
const drawStep = (pen: Pen, tile: Tile, marks: Marks, { page, now }: Colours, alpha: number) => {
  if (marks.rowOnly) return;
  const each = tile.tall / marks.rows;
  if (marks.future) {
    const from = each * (marks.row + 1);
    pen.globalAlpha = 0.82;
    pen.fillStyle = page;
    pen.fillRect(tile.x, tile.y + from, tile.w, tile.tall - from);
    pen.globalAlpha = alpha;
  }
  if (marks.playing || marks.isChosen(tile)) {
    pen.fillStyle = now;
    pen.fillRect(tile.x, tile.y + each * marks.row, 2, Math.max(2, each));
  }
};

const drawEdges = (pen: Pen, tile: Tile, marks: Marks, { edge }: Colours) => {
  pen.strokeStyle = edge;
  pen.lineWidth = 1;
  pen.strokeRect(tile.x + 0.5, tile.y + 0.5, tile.w - 1, tile.tall - 1);
  const overlay = marks.overlay(tile);
  if (overlay < 0) return;
  pen.strokeStyle = HEAD_COLOURS[overlay % HEAD_COLOURS.length];
  pen.lineWidth = 2;
  pen.strokeRect(tile.x + 1, tile.y + 1, tile.w - 2, tile.tall - 2);
};

const drawName = (pen: Pen, tile: Tile, text: string, { font, page, ink }: Colours) => {
  pen.font = font;
  pen.fillStyle = page;
  pen.fillRect(tile.x + 3, tile.y + tile.tall - 18, pen.measureText(text).width + 6, 15);
  pen.fillStyle = ink;
  pen.fillText(text, tile.x + 6, tile.y + tile.tall - 6);
};

/** Draw all tiles; `sheet` holds the maps as small pictures. */
export const paintTiles = (
  canvas: HTMLCanvasElement,
  layout: Layout,
  sheet: Sheet,
  marks: Marks,
): void => {
  const pen = prepared(canvas, layout);
  const palette = colours();
  for (const tile of layout.tiles) {
    const faded = marks.isFaded(tile);
    const alpha = faded ? 0.22 : 1;
    pen.globalAlpha = alpha;
    pen.fillStyle = palette.page;
    pen.fillRect(tile.x, tile.y, tile.w, tile.tall);
    drawMap(pen, sheet, tile, marks);
    drawStep(pen, tile, marks, palette, alpha);
    drawEdges(pen, tile, marks, palette);
    const name = marks.name(tile);
    pen.globalAlpha = faded ? 0.4 : 1;
    if (name) drawName(pen, tile, name, palette);
    pen.globalAlpha = 1;
  }
};
