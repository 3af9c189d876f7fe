/* A heat map as Plotly will draw it, without Plotly: what stands there until that large script has
   come. */

import type { Colour } from "../design/colour";
import { svgEl } from "../dom/element";
import { cellPicture } from "./cells";
import type { Figure } from "./plotly";

const STANDOFF = 7; // pixels between a row's name and the cells, as Plotly leaves them
const OVER = { upright: 2, slanted: 4 }; // and between a column's name and the cells
const PADDING = 2; // round a caption
const LINE = 1.3; // a line's height in sizes of its letters

const unescaped = (text: string): string =>
  new DOMParser().parseFromString(text, "text/html").documentElement.textContent;

const write = (
  text: string,
  { size, color }: { size: number; color: string },
  attributes: Record<string, string | number>,
): SVGTextElement =>
  svgEl("text", { "font-size": size, fill: color, ...attributes }, unescaped(text));

/** The named places of an axis that are in sight, as shares of it. */
const named = ({ range: [from, to], tickvals, ticktext }: Figure["layout"]) =>
  (tickvals as number[])
    .map((place, i) => ({ at: (place - from) / (to - from), text: ticktext[i] as string }))
    .filter(({ at, text }) => at > 0 && at < 1 && text);

/**
 * What `heatFigure` says, its size and places in pixels as in Plotly's picture; `table` colours the
 * cells.
 */
export const sketch = ({ data, layout }: Figure, table: Colour[]): SVGSVGElement => {
  const { width, height, margin, font, xaxis, yaxis, yaxis2 } = layout;
  const [left, top] = [margin.l, margin.t];
  const [wide, high] = [width - left - margin.r, height - top - margin.b];
  const node = svgEl("svg", { class: "sketch", width, height, "font-family": font.family });
  node.append(cellsOf(data[0].z, layout, table, { x: left, y: top, width: wide, height: high }));
  for (const { at, text } of named(xaxis)) {
    const upright = xaxis.tickangle === -90;
    const x = left + at * wide + (upright ? 0 : OVER.slanted);
    const y = top - (upright ? OVER.upright : OVER.slanted);
    const transform = `rotate(${xaxis.tickangle} ${x} ${y})`;
    const base = upright ? "central" : "auto";
    node.append(write(text, xaxis.tickfont, { x, y, transform, "dominant-baseline": base }));
  }
  for (const axis of [yaxis, yaxis2].filter(Boolean))
    for (const { at, text } of named(axis)) {
      const place = { x: left + (axis.shift ?? 0) - STANDOFF, y: top + (1 - at) * high };
      const end = { "text-anchor": "end", "dominant-baseline": "central" };
      node.append(write(text, axis.tickfont, { ...place, ...end }));
    }
  for (const { text, font: letters, xshift, yshift, xanchor } of layout.annotations)
    (text as string).split("<br>").forEach((line, i, { length }) => {
      const right = xanchor === "right";
      const x = left + xshift + (right ? -PADDING : PADDING);
      const y = top - yshift - 2 * PADDING - (length - 1 - i) * LINE * letters.size;
      node.append(write(line, letters, { x, y, "text-anchor": right ? "end" : "start" }));
    });
  return node;
};

/** The cells in sight, in a frame that cuts off the others. */
const cellsOf = (
  cells: (number | null)[][],
  { xaxis, yaxis }: Figure["layout"],
  table: Colour[],
  frame: Record<"x" | "y" | "width" | "height", number>,
): SVGSVGElement => {
  const [x, y] = [xaxis.range, yaxis.range];
  const seen = [Math.min(...x), Math.min(...y), Math.abs(x[1] - x[0]), Math.abs(y[1] - y[0])];
  const whole = { x: -0.5, y: -0.5, width: cells[0].length, height: cells.length };
  const free = { preserveAspectRatio: "none" };
  const node = svgEl("svg", { ...frame, ...free, viewBox: seen.join(" "), overflow: "hidden" });
  const href = cellPicture(cells, table);
  node.append(svgEl("image", { ...whole, ...free, href, style: "image-rendering: pixelated" }));
  return node;
};
