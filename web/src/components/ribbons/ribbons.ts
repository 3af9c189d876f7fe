/* Words in rows and the links between them as ribbons: the switchboard's three rows, an alignment's
   two. */

import { lookup, rgb } from "../../design/colour";
import { COLOURS } from "../../design/scales";
import { svgEl } from "../../dom/element";
import type { Theme } from "../../dom/screen";
import { textWidth } from "../../dom/text-width";
import { clamp, two } from "../../format/number";
import {
  type RibbonLayout,
  type Row,
  type WordPlace,
  fitsAcross,
  rowsAcross,
  rowsDown,
} from "./layout";

export interface RibbonsProps {
  rows: Row[];
  /** For each pair of neighbours a table of weights, [upper][lower]. */
  bands: number[][][];
  /** Pairs [upper, lower] of the first band that are drawn as dashed lines. */
  missed?: [upper: number, lower: number][];
  width: number;
  label: string;
  theme?: Theme;
}

const NARROW = 560; // pixels; below it rows stand beside each other
const FAINTEST = 0.08; // a weight that is not drawn
const { ink, ink2, here } = COLOURS.light;
const PAPER = [
  `text{font:16px sans-serif;fill:${ink}}.narrow text{font-size:13px}`,
  `.row-name{font-size:13px;font-weight:600;fill:${ink2}}`,
  `.fresh{stroke:${here};stroke-width:2}.missed{stroke:${ink};stroke-dasharray:3 3}`,
].join("");

const link = (
  { ends, narrow }: RibbonLayout,
  from: WordPlace,
  to: WordPlace,
  attributes: Record<string, string | number>,
): SVGPathElement => {
  const [[x, y], [z, end]] = ends(from, to);
  const bend = narrow
    ? `${(x + z) / 2},${y} ${(x + z) / 2},${end}`
    : `${x},${(y + end) / 2} ${z},${(y + end) / 2}`;
  return svgEl("path", { d: `M${x},${y}C${bend} ${z},${end}`, fill: "none", ...attributes });
};

const drawBands = (layout: RibbonLayout, { rows, bands, theme }: RibbonsProps): SVGElement[] => {
  const colours = lookup("house", false, theme);
  const ribbon = (r: number, i: number, j: number, weight: number) => {
    const node = link(layout, layout.places[r][i], layout.places[r + 1][j], {
      stroke: rgb(colours[Math.round(256 * clamp(weight, 0, 1))]),
      "stroke-width": (1 + layout.thick * weight).toFixed(1),
      "stroke-opacity": 0.8,
    });
    const said = `${rows[r].words[i]} – ${rows[r + 1].words[j]} ${two(weight)}`;
    node.append(svgEl("title", {}, said));
    return node;
  };
  return bands.flatMap((band, r) =>
    band.flatMap((line, i) =>
      line.flatMap((weight, j) => (weight < FAINTEST ? [] : [ribbon(r, i, j, weight)])),
    ),
  );
};

/** A word, underlined if it is marked. */
const drawWord = (place: WordPlace, row: Row, i: number, size: number): SVGElement[] => {
  const { x, y, anchor } = place;
  const attributes = { x, y, "text-anchor": anchor, style: `font-size:${size}px` };
  const word = svgEl("text", { ...attributes, lang: row.lang || "" }, row.words[i]);
  if (!row.fresh?.[i]) return [word];
  const half = textWidth(row.words[i], size) / 2;
  const middle = x + (anchor === "start" ? half : anchor === "end" ? -half : 0);
  const ends = { x1: middle - half, x2: middle + half, y1: y + 6, y2: y + 6 };
  return [word, svgEl("line", { ...ends, class: "fresh" })];
};

export const ribbons = (props: RibbonsProps): SVGSVGElement => {
  const { rows, missed = [], width, label } = props;
  const across = width >= NARROW && fitsAcross(rows, width);
  const layout = (across ? rowsAcross : rowsDown)(rows, width);
  const svg = svgEl("svg", {
    width: Math.ceil(layout.width),
    height: layout.height,
    role: "img",
    "aria-label": label,
    class: "ribbons" + (layout.narrow ? " narrow" : ""),
  });
  svg.append(...drawBands(layout, props));
  for (const [i, j] of missed)
    svg.append(link(layout, layout.places[0][i], layout.places[1][j], { class: "missed" }));
  rows.forEach((row, r) => {
    const { x, y, anchor } = layout.names[r];
    svg.append(svgEl("text", { x, y, "text-anchor": anchor, class: "row-name" }, row.name));
    row.words.forEach((_, i) => svg.append(...drawWord(layout.places[r][i], row, i, layout.size)));
  });
  return svg;
};

/** The same picture as a file of its own: on white, with its styles inside. */
export const ribbonsText = (props: Omit<RibbonsProps, "width" | "theme">): string => {
  const svg = ribbons({ ...props, width: 1000, theme: "light" });
  const width = Number(svg.getAttribute("width")) + 40;
  const height = Number(svg.getAttribute("height")) + 32;
  const place = { x: -20, y: -16, width, height };
  const frame = { viewBox: `-20 -16 ${width} ${height}`, width, height };
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  for (const [name, value] of Object.entries(frame)) svg.setAttribute(name, String(value));
  svg.prepend(svgEl("style", {}, PAPER), svgEl("rect", { ...place, fill: "#ffffff" }));
  // eslint-disable-next-line no-control-regex -- no XML may hold them
  const unheard = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
  return new XMLSerializer().serializeToString(svg).replace(unheard, "\ufffd");
};
