/* What lies over a map: the present row, the cell pointed at, pins, lines between cells, the
   future's hatching. */

import { el, svgEl } from "../../dom/element";
import { gapOf } from "../../plot/cells";
import type { MapSize } from "../../plot/measure";
import type { Axis, PlotNode } from "../../plot/plotly";
import type { Cell, View } from "../../state/view";
import type { Picture } from "../../trace/picture";
import { type Area, type Axes, axesOf, cellArea } from "./axes";
import { type NumbersView, makeNumbers } from "./numbers";
import type { Place } from "./plots";

export interface OverlayView {
  plot: PlotNode;
  picture: Picture;
  size: MapSize;
  /** The present row; -1: it is hidden. */
  row: number;
  hover: Cell | null;
  pins: View["pins"];
  /** Rows after the present one are veiled. */
  veiled: boolean;
  /** What is written into the cells, and the key of all that it depends on; null: nothing. */
  numbers: [key: string, view: () => NumbersView] | null;
}

export interface Overlay {
  nodes: Element[];
  /** Where the cells are, in pixels; `causal`: the future is hatched. */
  put(place: Place, causal: boolean): void;
  paint(view: OverlayView): void;
}

/** Lay a frame round an area, `grow` pixels away from it; null: none. */
const lay = (node: HTMLElement, area: Area | null, grow: number): void => {
  node.hidden = !area || area.bottom - area.top < 2 || area.right - area.left < 2;
  if (!area || node.hidden) return;
  Object.assign(node.style, {
    left: area.left - grow + "px",
    top: area.top - grow + "px",
    width: area.right - area.left + 2 * grow + "px",
    height: area.bottom - area.top + 2 * grow + "px",
  });
};

/** Places between cells along an axis, in pixels. */
const between = (axis: Axis): string[] => {
  const [low, high] = [...axis.range].sort((a, b) => a - b);
  const start = Math.ceil(low + 0.5);
  const count = Math.max(Math.floor(high + 0.5) - start + 1, 0);
  return Array.from({ length: count }, (_, n) => axis.l2p(start + n - 0.5).toFixed(2));
};

/**
 * Lines between the cells wherever Plotly's axes have them now. No repeated background: WebKit
 * rounds its tiles to whole pixels.
 */
const rulesOf = ({ x, y }: Axes): string =>
  between(x)
    .map((at) => `M${at} 0V${y._length}`)
    .join("") +
  between(y)
    .map((at) => `M0 ${at}H${x._length}`)
    .join("");

/** The outline of the future's cells, for clipping. */
const futureOf = (axes: Axes, picture: Picture, left: number, top: number): string => {
  const last = picture.columns.length - 1;
  const points = picture.rows.flatMap((_, i): [number, number][] => {
    const start = picture.columns.findIndex((_, j) => picture.masked(i, j));
    if (start < 0) return [];
    const area = cellArea(axes, i, start, last);
    return [
      [area.left, area.top],
      [area.left, area.bottom],
    ];
  });
  if (!points.length) return "inset(100%)";
  const { right } = cellArea(axes, 0, last, last);
  points.push([right, points[points.length - 1][1]], [right, points[0][1]]);
  return `polygon(${points.map(([px, py]) => `${px - left}px ${py - top}px`).join(",")})`;
};

/**
 * Mark the labels of the present row and of the column pointed at, without asking Plotly to lay out
 * again.
 */
const markTicks = ({ plot, picture, row, hover }: OverlayView, axes: Axes): void => {
  const mark = (selector: string, shown: number[], index: number, name: string) =>
    plot
      .querySelectorAll(selector)
      .forEach((node, i) => node.classList.toggle(name, shown[i] === index));
  const visible = (values: unknown[], range: number[]) =>
    values.map((_, i) => i).filter((i) => i >= Math.min(...range) && i <= Math.max(...range));
  const rows = visible(picture.rows, axes.y.range);
  const columns = visible(picture.columns, axes.x.range);
  mark(".yaxislayer-above .ytick text", rows, row, "now");
  mark(".overaxes-above .y2tick text, .y2tick text", rows, row, "now2");
  mark(".xaxislayer-above .xtick text", columns, hover ? hover.j : -1, "pointed");
};

/** Rows and columns that are pinned: their areas, and how far a frame stands from them. */
const pinnedAreas = ({ picture, pins }: OverlayView, axes: Axes): Area[] => {
  const { rows, columns } = picture;
  const last = columns.length - 1;
  const below = cellArea(axes, rows.length - 1, 0, last).bottom;
  return [
    ...rows.flatMap(({ ids }, i) =>
      ids.some((id) => pins.rows.includes(id)) ? [cellArea(axes, i, 0, last)] : [],
    ),
    ...columns.flatMap(({ ids }, j) =>
      ids.some((id) => pins.columns.includes(id))
        ? [{ ...cellArea(axes, 0, j, j), bottom: below }]
        : [],
    ),
  ];
};

export const makeOverlay = (): Overlay => {
  const lines = svgEl("svg", { class: "between", "aria-hidden": "true" });
  const ruled = svgEl("path");
  const hatch = el("div", { class: "hatch", "aria-hidden": "true" });
  const over = el("div", { class: "over", "aria-hidden": "true" });
  const row = el("div", { class: "row-frame" });
  const cell = el("div", { class: "cell-frame" });
  const veil = el("div", { class: "veil" });
  let corner = { left: 0, top: 0 };
  const numbers = makeNumbers();
  lines.append(ruled);
  over.append(veil, row, cell);

  const put: Overlay["put"] = ({ left, top, width, height }, causal) => {
    corner = { left, top };
    const style = {
      left: left + "px",
      top: top + "px",
      width: width + "px",
      height: height + "px",
    };
    Object.assign(lines.style, style);
    Object.assign(hatch.style, style);
    Object.assign(numbers.node.style, style);
    hatch.hidden = !causal;
    over.style.visibility = "visible";
  };
  const frames = (view: OverlayView, axes: Axes) => {
    const { picture, hover, row: now, veiled } = view;
    const { rows, columns } = picture;
    const last = columns.length - 1;
    const known = hover && rows[hover.i] && columns[hover.j];
    lay(row, now >= 0 ? cellArea(axes, now, 0, last) : null, 2);
    lay(cell, known ? cellArea(axes, hover.i, hover.j, hover.j) : null, 1);
    const below = cellArea(axes, rows.length - 1, 0, last).bottom;
    const after = veiled && now + 1 < rows.length;
    lay(veil, after ? { ...cellArea(axes, now + 1, 0, last), bottom: below } : null, 0);
    over.querySelectorAll(".pin-frame").forEach((node) => node.remove());
    for (const area of pinnedAreas(view, axes)) {
      const pin = el("div", { class: "pin-frame" });
      over.append(pin);
      lay(pin, area, 0);
    }
  };
  const paint = (view: OverlayView) => {
    const axes = axesOf(view.plot);
    if (!axes) return;
    frames(view, axes);
    const path = rulesOf(axes);
    if (ruled.getAttribute("d") !== path) ruled.setAttribute("d", path);
    ruled.setAttribute("stroke-width", String(gapOf(view.size)));
    if (!hatch.hidden) hatch.style.clipPath = futureOf(axes, view.picture, corner.left, corner.top);
    markTicks(view, axes);
    if (view.numbers) numbers.paint(axes, ...view.numbers);
    else numbers.clear();
  };
  return { nodes: [lines, hatch, numbers.node, over], put, paint };
};
