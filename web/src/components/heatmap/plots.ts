/* One plot for each kind of attention, and of what it is drawn: what is drawn already is only
   shown. */

import type { Colour } from "../../design/colour";
import { el } from "../../dom/element";
import { dark, phone, touch } from "../../dom/screen";
import { pageLanguage } from "../../i18n/language";
import { type Cells, cellPicture } from "../../plot/cells";
import { type HeatView, heatFigure } from "../../plot/heat";
import { type MapSize, measureMap } from "../../plot/measure";
import { PLOT_CONFIG, type PlotNode } from "../../plot/plotly";
import { sketch } from "../../plot/sketch";
import type { Kind } from "../../protocol/messages";
import type { ExplorerContext, Room } from "../../state/context";
import type { View } from "../../state/view";
import type { Picture } from "../../trace/picture";

/** An explorer, as it is or as it would be. */
export type Who = Pick<ExplorerContext, "state" | "trace" | "picture" | "rowIndex">;

export interface Drawn {
  node: PlotNode;
  /** Of what it is drawn; "": of what is no longer known. */
  key: string;
  wired: boolean;
}

/** What of the state decides how a map is drawn. */
const DRAWN_BY: (keyof View)[] = [
  "kind",
  "layer",
  "head",
  "view",
  "unit",
  "scale",
  "palette",
  "specials",
  "labels",
  "aggregate",
  "overlay",
];

/** How a map is drawn, but for the part of it that is in sight. */
export interface Measured {
  picture: Picture;
  size: MapSize;
  view: Omit<HeatView, "range">;
}

const FOOT = 72; // pixels of what is said under a map
const STEP_BAR = 108; // pixels of the bar that stays at the foot of a phone
const ROOMY = 1300; // pixels of a frame whose names are larger

/** The size of the names. */
const textOf = (width: number, { presenting }: View): number => {
  if (presenting) return phone() ? 14 : 21;
  return width >= ROOMY ? 15 : 13;
};

/** How large the map of `who` is drawn. */
export const measured = (who: Who, { width, room }: Room): Measured => {
  const picture = who.picture();
  const { kind, scale, palette, labels, fit } = who.state;
  const small = phone();
  const both = kind !== "encoder" && labels === "both" && !small;
  const text = textOf(width, who.state);
  const beside = small ? 72 : Math.round((both ? 160 : 96) * (text / 13));
  const names = { labels: beside, top: small ? 86 : 65 + text, small, text, fit };
  const height = fit ? innerHeight - (small ? STEP_BAR : FOOT) : room; // the page scrolls to it
  const size = measureMap(Math.floor(width) - 2, height, picture, names);
  const view = {
    size,
    scale,
    palette,
    labels: small && labels === "both" ? ("predicts" as const) : labels,
    small,
    width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right),
    height: Math.ceil(size.top + size.cellHeight * size.rows + 4),
    touch: touch(),
    lines: true,
  };
  return { picture, size, view };
};

/** Where the cells of a plot are, in its pixels. */
export interface Place {
  left: number;
  top: number;
  width: number;
  height: number;
}

export const placeOf = ({ size, width, height }: HeatView): Place => ({
  left: size.labels,
  top: size.top,
  width: width - size.labels - size.right,
  height: height - size.top - 2,
});

const PAPER = { width: 1000, height: 410 }; // pixels of a page that are left for a map

/** The size of a map on paper, beside its size on the screen. */
export const onPaper = ({ width, height }: HeatView): number =>
  Math.min(1.5, PAPER.width / width, PAPER.height / height);

/**
 * Put a picture of cells where Plotly has its own; false: it has none. Plotly itself draws for
 * longer.
 */
export const putCells = (
  plot: PlotNode,
  cells: Cells,
  table: Colour[],
  { width, height }: Place,
): boolean => {
  const image = plot.querySelector<SVGImageElement>(".heatmaplayer image");
  if (!image) return false;
  // Plotly knows which browsers do: Safari
  const smooths = image.style.imageRendering !== "pixelated";
  const least = smooths ? devicePixelRatio * Math.max(width, height) : 0;
  image.href.baseVal = cellPicture(cells, table, least);
  plot.data[0].z = cells;
  return true;
};

export const keyOf = (who: Who, version: number, view: HeatView): string =>
  JSON.stringify([
    version,
    dark(),
    pageLanguage(),
    view,
    ...DRAWN_BY.map((name) => who.state[name]),
    !!who.trace.contributions, // ALTI+ comes later: until then its maps are drawn empty
  ]);

export interface Plots {
  of(kind: Kind): Drawn;
  /** Draw the map of `who` as it will be; for as long as Plotly is on its way. */
  sketch(who: Who, picture: Picture, view: HeatView, table: Colour[]): void;
  /** Let Plotly draw the map of `who`, unless it is drawn already; true if it was not. */
  fill(who: Who, picture: Picture, version: number, view: HeatView): boolean;
}

/** `wire` is called once for each plot, when it is drawn first. */
export const makePlots = (wire: (drawn: Drawn) => void): Plots => {
  const plots: Partial<Record<Kind, Drawn>> = {};
  const of = (kind: Kind): Drawn =>
    (plots[kind] ??= {
      node: el("div", { class: "plot" }) as HTMLElement as PlotNode,
      key: "",
      wired: false,
    });
  const fill: Plots["fill"] = (who, picture, version, view) => {
    const drawn = of(who.state.kind);
    const key = keyOf(who, version, view);
    if (drawn.key === key) return false;
    const { data, layout } = heatFigure(picture, who.state.kind, view);
    drawn.node.querySelector(".sketch")?.remove();
    void window.Plotly!.react(drawn.node, data, layout, PLOT_CONFIG);
    drawn.node.style.height = view.height + "px";
    drawn.key = key;
    if (!drawn.wired) wire(drawn);
    drawn.wired = true;
    return true;
  };
  const sketched: Plots["sketch"] = (who, picture, view, table) => {
    const { node } = of(who.state.kind);
    node.replaceChildren(sketch(heatFigure(picture, who.state.kind, view), table));
    node.style.height = view.height + "px";
    dispatchEvent(new Event("explorer-sketched"));
  };
  return { of, fill, sketch: sketched };
};
