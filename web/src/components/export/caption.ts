/* What a picture says of itself, written below it: sentence, translation, head, checkpoint,
   settings. */

import { svgEl } from "../../dom/element";
import { PAPER } from "./paper";

const SIZE = 11; // pixels of the letters, as all that follow
const LINE = 16;
const EDGE = 14;
const LETTER = 5.8; // a letter's width, on average; a Chinese one has twice as much

const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 2 : 1), 0) * LETTER;

/**
 * A text in lines that are no wider than `room` pixels; it breaks at spaces, and where it has none
 * anywhere.
 */
export const wrapped = (text: string, room: number): string[] => {
  const lines = [""];
  for (const part of text.match(/[^\s\u2e80-\uffff]+\s*|\s+|[\u2e80-\uffff]/g) ?? []) {
    const last = lines.length - 1;
    if (lines[last] && widthOf(lines[last] + part.trimEnd()) > room) lines.push(part);
    else lines[last] += part;
  }
  return lines.map((line) => line.trim()).filter(Boolean);
};

const sizeOf = (root: Element): { width: number; height: number } => {
  const box = (root.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  const given = (name: string) => parseFloat(root.getAttribute(name) ?? "");
  return { width: given("width") || box[2], height: given("height") || box[3] };
};

export interface Finish {
  /** Each is written below the picture; none: it says nothing of itself. */
  lines: string[];
  /** Millimetres; null: as many pixels as it was drawn with. */
  width: number | null;
}

/** An SVG with its caption, as wide as was asked for; `pixels` is what it was drawn with. */
export const finished = (
  svg: string,
  { lines, width: asked }: Finish,
): { svg: string; pixels: number; height: number } => {
  const inner = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const { width, height } = sizeOf(inner);
  const rows = lines.flatMap((line) => wrapped(line, width - 2 * EDGE));
  const total = height + (rows.length ? rows.length * LINE + EDGE : 0);
  const shown = asked === null ? [width, total] : [`${asked}mm`, `${(asked * total) / width}mm`];
  const root = svgEl("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${total}`,
    width: shown[0],
    height: shown[1],
    "font-family": "sans-serif",
    "font-size": SIZE,
  });
  root.append(svgEl("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  root.append(document.importNode(inner, true));
  rows.forEach((row, i) =>
    root.append(svgEl("text", { x: EDGE, y: height + LINE * (i + 0.8), fill: PAPER.third }, row)),
  );
  return { svg: new XMLSerializer().serializeToString(root), pixels: width, height: total };
};
