/* The heat maps of a comparison, and all of them as one picture. */

import { type Paper, paper } from "../../components/export/paper";
import type { Palette } from "../../design/scales";
import { el } from "../../dom/element";
import { type Theme, phone } from "../../dom/screen";
import { type HeatView, heatFigure } from "../../plot/heat";
import { measureMap, whole } from "../../plot/measure";
import { type Figure, PLOT_CONFIG, type PlotNode } from "../../plot/plotly";
import type { Kind } from "../../protocol/messages";
import type { Cell } from "../../state/view";
import type { Picture } from "../../trace/picture";

export interface MapProps {
  picture: Picture;
  kind: Kind;
  /** "difference" runs from −1 to 1. */
  palette: Palette;
}

const ROOM = 420; // pixels of height
const TITLES = 40; // pixels above the maps of a picture
const BETWEEN = 32;

const mapFigure = (
  { picture, kind, palette }: MapProps,
  width: number,
  theme?: Theme,
): { figure: Figure; view: HeatView } => {
  const small = phone();
  const labels = small ? 72 : kind === "encoder" ? 96 : 160;
  const size = whole(measureMap(width, ROOM, picture, { labels, top: 84, small }), picture);
  const view: HeatView = {
    size,
    theme,
    scale: "linear",
    palette,
    labels: small ? "predicts" : "both",
    small,
    touch: true,
    range: { x: [-0.5, size.columns - 0.5], y: [size.rows - 0.5, -0.5] },
    width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right),
    height: Math.ceil(size.top + size.cellHeight * size.rows + 4),
  };
  const figure = heatFigure(picture, kind, view);
  if (palette === "difference") figure.data[0].zmin = -1;
  return { figure, view };
};

/** The plot in a box, or null. */
const plotIn = (box: HTMLElement): PlotNode | null => box.firstElementChild as PlotNode | null;

export const drawMap = (box: HTMLElement, props: MapProps): void => {
  const { figure } = mapFigure(props, Math.floor(box.clientWidth) - 2);
  if (!box.firstChild) box.append(el("div"));
  void window.Plotly!.react(plotIn(box)!, figure.data, figure.layout, PLOT_CONFIG);
};

/** An orange frame round a row: you are here. */
export const frameRow = (box: HTMLElement, row: number): void => {
  const layout = plotIn(box)?._fullLayout;
  if (!layout || row < 0) return;
  if (!box.lastElementChild!.matches(".row-frame"))
    box.append(el("div", { class: "row-frame", "aria-hidden": "true" }));
  const { xaxis, yaxis } = layout;
  const top = yaxis._offset + yaxis.l2p(row - 0.5);
  const bottom = yaxis._offset + yaxis.l2p(row + 0.5);
  Object.assign((box.lastElementChild as HTMLElement).style, {
    left: xaxis._offset - 2 + "px",
    width: xaxis._length + 4 + "px",
    top: top - 2 + "px",
    height: bottom - top + 4 + "px",
  });
};

/** Which cell of the map in a box an event points at; null: none. */
export const cellAt = (box: HTMLElement, picture: Picture, event: MouseEvent): Cell | null => {
  const plot = plotIn(box);
  const layout = plot?._fullLayout;
  if (!layout) return null;
  const rect = plot.getBoundingClientRect();
  const { xaxis, yaxis } = layout;
  const j = Math.round(xaxis.p2l(event.clientX - rect.left - xaxis._offset));
  const i = Math.round(yaxis.p2l(event.clientY - rect.top - yaxis._offset));
  return picture.rows[i] && picture.columns[j] ? { i, j } : null;
};

const svgOf = async (figure: Figure, { width, height }: HeatView): Promise<Element> => {
  const config = { ...figure, config: PLOT_CONFIG };
  const address = await window.Plotly!.toImage(config, { format: "svg", width, height });
  const text = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
};

/** Maps side by side with their titles, on the light scale. */
export const mapsSvg = async (maps: (MapProps & { title: string })[]): Promise<string> => {
  const drawn = maps.map((props) => ({ ...mapFigure(props, 640, "light"), title: props.title }));
  const width = drawn.reduce((sum, { view }) => sum + view.width + BETWEEN, 0);
  const page: Paper = paper(width, Math.max(...drawn.map(({ view }) => view.height)) + 56);
  let left = 0;
  for (const { figure, view, title } of drawn) {
    const node = await svgOf(figure, view);
    node.setAttribute("x", String(left));
    node.setAttribute("y", String(TITLES));
    page.write(title, left + 12, 26, { "font-size": 15, "font-weight": 600 });
    page.root.append(document.importNode(node, true));
    left += view.width + BETWEEN;
  }
  return page.text();
};
