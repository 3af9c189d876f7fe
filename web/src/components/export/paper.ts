/* An empty picture on white, and a pen for its texts. */

import { COLOURS } from "../../design/scales";
import { svgEl } from "../../dom/element";

const { ink, ink3: third, here, line, prob: bar, track } = COLOURS.light;
export const PAPER = { ink, third, here, line, bar, track };

type Attributes = Record<string, string | number>;

export interface Paper {
  root: SVGSVGElement;
  write(text: string, x: number, y: number, attributes?: Attributes): void;
  /** The picture as a file. */
  text(): string;
}

export const paper = (width: number, height: number): Paper => {
  const root = svgEl("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    "font-family": "sans-serif",
    "font-size": 12,
  });
  root.append(svgEl("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  return {
    root,
    write: (text, x, y, attributes = {}) =>
      root.append(svgEl("text", { x, y, fill: PAPER.ink, ...attributes }, text)),
    text: () => new XMLSerializer().serializeToString(root),
  };
};
