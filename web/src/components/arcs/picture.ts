/* Arcs as SVG: two lines of tokens and the links between them. */

import { type Colour, rgb } from "../../design/colour";
import { svgEl } from "../../dom/element";
import { clamp } from "../../format/number";
import { cut } from "../../format/text";
import type { Group, Picture } from "../../trace/picture";

/** One head's links; `colour` tells it from others that lie over it, null: by weight. */
export interface Layer {
  name: string;
  picture: Picture;
  colour: string | null;
}

/** Rows and columns whose links alone are shown. */
export interface Focus {
  rows: number[];
  columns: number[];
}

export interface ArcsView {
  layers: Layer[];
  width: number;
  /** Height of a line of tokens, in pixels. */
  line: number;
  small: boolean;
  focus: Focus | null;
  /** The present row. */
  now: number;
  /** Colours of weights, 257 of them. */
  table: Colour[];
  rowText: (group: Group) => string;
  /** What stands over the rows and over the columns. */
  titles: [rows: string, columns: string];
  label: string;
}

const FAINTEST = 0.02; // a weight that is not drawn
const TOP = 26;

interface Geometry {
  left: number;
  right: number;
  height: number;
  y: (count: number, i: number) => number;
}

const geometry = ({ layers, width, line, small }: ArcsView): Geometry => {
  const { rows, columns } = layers[0].picture;
  const most = Math.max(rows.length, columns.length);
  return {
    left: small ? 96 : 190,
    right: width - (small ? 96 : 150),
    height: TOP + line * (most + 0.5),
    y: (count, i) => TOP + line * (i + 0.75 + (most - count) / 2),
  };
};

/** The links of one head, the strongest last, so that it lies on top. */
const drawLinks = (view: ArcsView, { left, right, y }: Geometry, layer: Layer) => {
  const { z, masked, rows, columns } = layer.picture;
  const { focus, now, line, table } = view;
  const middle = (left + right) / 2;
  const lit = ({ weight, i, j }: { weight: number; i: number; j: number }) =>
    weight >= FAINTEST &&
    !masked(i, j) &&
    (!focus || focus.rows.includes(i) || focus.columns.includes(j));
  return z
    .flatMap((values, i) => values.map((weight, j) => ({ weight, i, j })))
    .filter(lit)
    .sort((a, b) => a.weight - b.weight)
    .map(({ weight, i, j }) => {
      const [from, to] = [y(rows.length, i), y(columns.length, j)];
      const plain = i === now || focus ? 0.95 : 0.6;
      return svgEl("path", {
        d: `M${left},${from} C${middle},${from} ${middle},${to} ${right},${to}`,
        stroke: layer.colour || rgb(table[Math.round(256 * clamp(weight, 0, 1))]),
        "stroke-width": (0.6 + 9 * weight * (line < 20 ? line / 20 : 1)).toFixed(2),
        opacity: layer.colour ? 0.25 + 0.6 * weight : plain,
      });
    });
};

const drawTokens = (view: ArcsView, { left, right, y }: Geometry, side: "rows" | "columns") => {
  const groups = view.layers[0].picture[side];
  const isRow = side === "rows";
  return groups.map((group, i) => {
    const classes = ["token", isRow && i === view.now && "now", group.special && "special"];
    return svgEl(
      "text",
      {
        x: isRow ? left - 12 : right + 12,
        y: y(groups.length, i) + 4.5,
        "text-anchor": isRow ? "end" : "start",
        class: classes.filter(Boolean).join(" "),
        "font-size": clamp(view.line - 4, 10, 14),
        "data-side": side,
        "data-i": i,
      },
      isRow ? view.rowText(group) : cut(group.text, 16),
    );
  });
};

/** The whole picture. */
export const drawArcs = (view: ArcsView): SVGSVGElement => {
  const place = geometry(view);
  const { left, right, height } = place;
  const root = svgEl("svg", {
    viewBox: `0 0 ${view.width} ${height}`,
    width: view.width,
    height,
    role: "img",
    "aria-label": view.label,
  });
  const links = svgEl("g", { fill: "none" });
  for (const layer of view.layers) links.append(...drawLinks(view, place, layer));
  const title = { y: 12, class: "axis-name" };
  root.append(
    links,
    svgEl("text", { ...title, x: left - 12, "text-anchor": "end" }, view.titles[0]),
    svgEl("text", { ...title, x: right + 12 }, view.titles[1]),
    ...drawTokens(view, place, "rows"),
    ...drawTokens(view, place, "columns"),
  );
  return root;
};

/** The height of a line, so that all of them fit into `room`. */
export const lineHeight = ({ rows, columns }: Picture, room: number): number =>
  clamp((room - TOP) / (Math.max(rows.length, columns.length) + 0.5), 13, 34);
