/* One map as a figure for Plotly: tokens stand on numeric axes, or those that read alike would
   become one. */

import { inkOn, lookup, rgb } from "../design/colour";
import { type Palette, colour } from "../design/scales";
import { type Theme, sans } from "../dom/screen";
import { textWidth } from "../dom/text-width";
import { clamp } from "../format/number";
import { cut, escapeHtml } from "../format/text";
import { t } from "../i18n/words";
import type { Kind } from "../protocol/messages";
import type { Picture } from "../trace/picture";
import { gapOf, shownCells } from "./cells";
import type { MapSize } from "./measure";
import { numberSize, numberText } from "./numbers";
import type { Figure } from "./plotly";

/** Which cells are in sight: the ends of both axes. */
export interface Range {
  x: [number, number];
  y: [number, number];
}

export interface HeatView {
  size: MapSize;
  range: Range;
  width: number;
  height: number;
  scale: "linear" | "root" | "row";
  palette: Palette;
  /** What names a row. */
  labels: "both" | "reads" | "predicts";
  small: boolean;
  touch?: boolean;
  /** Lines are drawn over the cells: no gaps between them. */
  lines?: boolean;
  theme?: Theme;
  /** Weights are written into the cells. */
  numbers?: boolean;
  /** The colour behind it all; else nothing. */
  paper?: string;
}

type Texts = string[];

const AXIS = {
  type: "linear",
  showgrid: false,
  zeroline: false,
  showline: false,
  ticks: "",
  fixedrange: false,
  automargin: false,
  ticklabeloverflow: "allow",
};

const axisText = (text: string): string => escapeHtml(cut(text));

/** Colour stops for Plotly. The square root bends the scale, not the numbers. */
const plotScale = (palette: Palette, root: boolean, theme?: Theme): [number, string][] => {
  const table = lookup(palette, root, theme);
  return Array.from({ length: 33 }, (_, i) => {
    const at = root ? (i / 32) ** 2 : i / 32;
    return [at, rgb(table[Math.round(at * 256)])];
  });
};

const plotColours = (theme?: Theme) => ({
  ink: colour("ink", theme),
  second: colour("ink2", theme),
  third: colour("ink3", theme),
});
type Colours = ReturnType<typeof plotColours>;

const title = (
  text: string,
  anchor: "left" | "right",
  xshift: number,
  color: string,
  size: number,
  yshift = 6,
) => ({
  text,
  xref: "paper",
  yref: "paper",
  x: 0,
  y: 1,
  xanchor: anchor,
  yanchor: "bottom",
  xshift,
  yshift,
  align: anchor,
  showarrow: false,
  font: { size, color },
});

const STANDS_OFF = 6; // pixels between a row's name and what follows
const APART = 6; // and before it, at least
const BOLD = 600; // the chosen row's name

/** As much of a row's name as fits into `room` pixels. */
const rowText = (text: string, length: number, room: number, size: number): string => {
  let shown = cut(text, length);
  for (let most = length - 1; most > 2 && textWidth(shown, size, BOLD) > room; most--)
    shown = cut(text, most);
  return escapeHtml(shown);
};

/** How wide the names that stand nearest are, where others stand left of them. */
const nearOf = ({ size }: Pick<HeatView, "size">): number => Math.round(5.7 * size.text);

/** Every so many of the names: where cells are small, not each has room. */
const someOf = (texts: Texts, every: number): Texts =>
  texts.map((text, i) => (i % every ? "" : text));

/** The names of the rows that stand nearest, and of what a row reads. */
const rowTexts = ({ rows }: Picture, kind: Kind, labels: HeatView["labels"]): [Texts, Texts] => {
  if (kind === "encoder") return [rows.map((row) => row.text), rows.map((row) => row.text)];
  const reads = rows.map((row) => row.reads ?? "");
  return [labels === "reads" ? reads : rows.map((row) => row.predicts ?? ""), reads];
};

const captions = (kind: Kind, { size, labels, small }: HeatView, { third }: Colours) => {
  const key =
    kind === "decoder" ? "key: target token already read" : "key: source token attended to";
  const near =
    kind === "encoder" ? t("query") : labels === "reads" ? t("query (reads)") : t("predicts");
  return [
    { ...title(t(key), "left", 0, third, size.text - 1, size.top - 5 - size.text), name: "key" },
    title(small ? near.replace(" ", "<br>") : near, "right", -8, third, size.text - 1),
  ];
};

/** A second row of names, further left, by an axis of its own that needs a trace to be drawn. */
const addReads = (
  { data, layout }: Figure,
  reads: Texts,
  { range, size }: HeatView,
  { third }: Colours,
) => {
  const near = nearOf({ size });
  const room = size.labels - near - STANDS_OFF;
  data.push({
    type: "scatter",
    x: [0],
    y: [0],
    yaxis: "y2",
    mode: "markers",
    marker: { opacity: 0 },
    hoverinfo: "skip",
  });
  layout.yaxis2 = {
    ...AXIS,
    range: range.y,
    matches: "y",
    overlaying: "y",
    side: "left",
    anchor: "free",
    position: 0,
    shift: -near,
    tickvals: reads.map((_, i) => i),
    ticktext: someOf(
      reads.map((text) => rowText(text, 10, room, layout.font.size)),
      size.names.rows,
    ),
    tickfont: { ...layout.font, color: third },
    ticklabelstandoff: STANDS_OFF,
  };
  layout.annotations.push(title(t("query (reads)"), "right", -near - 8, third, size.text - 1));
};

const heatmap = (picture: Picture, { size, scale, palette, theme, lines }: HeatView) => {
  // without gaps Plotly's picture has one pixel a cell, which takes a third of the time
  const gap = lines ? 0 : gapOf(size);
  return {
    type: "heatmap",
    z: shownCells(picture, scale),
    x: picture.columns.map((_, j) => j),
    y: picture.rows.map((_, i) => i),
    zmin: 0,
    zmax: 1,
    xgap: gap,
    ygap: gap,
    showscale: false,
    hoverinfo: "none",
    colorscale: plotScale(palette, scale === "root", theme),
  };
};

/** The weights as notes over their cells. */
const notes = (picture: Picture, { size, scale, palette, theme }: HeatView) => {
  const letters = numberSize(size.cellWidth, size.cellHeight, size.text + 1);
  const table = lookup(palette, scale === "root", theme);
  const cells = shownCells(picture, scale);
  return picture.z.flatMap((values, i) =>
    values.flatMap((weight, j) => {
      const shown = cells[i][j];
      const text = numberText(weight);
      if (!letters || shown === null || !text) return [];
      const color = inkOn(table[Math.round(256 * clamp(shown, 0, 1))]);
      return [{ x: j, y: i, text, showarrow: false, font: { size: letters, color } }];
    }),
  );
};

/** Keys above, `rows` before their cells. */
const axes = (
  picture: Picture,
  rows: string[],
  { size, range }: HeatView,
  font: { size: number; color: string },
  second: string,
) => ({
  xaxis: {
    ...AXIS,
    side: "top",
    range: range.x,
    tickvals: picture.columns.map((_, j) => j),
    ticktext: someOf(
      picture.columns.map((group) => axisText(group.text)),
      size.names.columns,
    ),
    tickangle: size.names.upright ? -90 : -45,
    tickfont: { ...font, size: size.names.text, color: second },
  },
  yaxis: {
    ...AXIS,
    range: range.y,
    tickvals: rows.map((_, i) => i),
    ticktext: someOf(rows, size.names.rows),
    tickfont: font,
    ticklabelstandoff: STANDS_OFF,
  },
});

/** Plotly's data and layout for one picture. */
export const heatFigure = (picture: Picture, kind: Kind, view: HeatView): Figure => {
  const { size } = view;
  const colours = plotColours(view.theme);
  const [near, reads] = rowTexts(picture, kind, view.labels);
  const both = kind !== "encoder" && view.labels === "both";
  const font = {
    family: sans(),
    size: clamp(size.cellHeight - 3, 10, size.text),
    color: colours.ink,
  };
  const room = (both ? nearOf(view) - APART : size.labels) - STANDS_OFF;
  const rows = near.map((text) => rowText(text, both ? 10 : 12, room, font.size));
  const layout = {
    width: view.width,
    height: view.height,
    margin: { l: size.labels, r: size.right, t: size.top, b: 2, pad: 0 },
    font,
    paper_bgcolor: view.paper || "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    hovermode: false,
    dragmode: view.touch ? false : "zoom",
    showlegend: false,
    ...axes(picture, rows, view, font, colours.second),
    annotations: [...captions(kind, view, colours), ...(view.numbers ? notes(picture, view) : [])],
  };
  const figure: Figure = { data: [heatmap(picture, view)], layout };
  if (both) addReads(figure, reads, view, colours);
  return figure;
};
