/* Any figure made in Python, shown with this page's settings: no cloud, no MathJax, our colours,
   dark mode. */

import { dark, phone, sans, touch } from "../dom/screen";
import { clamp } from "../format/number";
import { t, tMessage, tPart, tText } from "../i18n/words";
import { type Figure, PLOT_CONFIG, type PlotNode, whenPlotly } from "./plotly";

/** What `translator.ui.explorer.show` makes: the light figure, and what the dark one has else. */
type Shown =
  { error: string } | { light: Figure; dark: [path: (string | number)[], value: unknown][] };
type Say = (english: string) => string;

/** The figure of the present theme. */
const themed = (value: Exclude<Shown, { error: string }>): Figure => {
  const figure = value.light;
  if (!dark()) return figure;
  for (const [path, changed] of value.dark) {
    const place = path.slice(0, -1).reduce((node: any, name) => node[name], figure);
    place[path.at(-1)!] = changed;
  }
  return figure;
};

/**
 * The words right before a figure that say what it is: a heading, a caption, or the tab that is
 * open.
 */
const titleOf = (box: Element): string =>
  [...document.querySelectorAll<HTMLElement>("h2, h3, figcaption, [role=tab][aria-selected=true]")]
    .filter(
      (each) =>
        each.offsetParent &&
        each.textContent.trim() &&
        each.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING,
    )
    .pop()
    ?.textContent.trim() || "";

/** Plotly's own bar saves a PNG; this saves the same figure as SVG. */
const svgButton = () => ({
  name: "svg",
  title: t("Download as SVG"),
  icon: {
    width: 16,
    height: 16,
    path: "M8 1v8M4.500 6 8 9.500 11.500 6M2 12v2.500h12V12h-1.500v1h-9v-1z M7.200 1h1.600v7h-1.600z",
  },
  click: (plot: HTMLElement) =>
    window.Plotly!.downloadImage(plot, {
      format: "svg",
      filename: "figure",
      width: plot.clientWidth,
      height: plot.clientHeight,
    }),
});

/**
 * Names, legends, axes and hover texts of a figure in the page's language; "sine, pair 3" is a word
 * and a number.
 */
export const speakFigure = ({ data, layout }: Figure, say: Say): void => {
  for (const each of data) {
    const [, word, number] = /^(.*?)(?:,? (?:pair )?(\d+))?$/.exec(each.name || "") ?? [];
    if (word) each.name = say(word) + (number ? ` ${number}` : "");
    if (each.colorbar?.title?.text) each.colorbar.title.text = say(each.colorbar.title.text);
    if (each.hovertemplate)
      each.hovertemplate = each.hovertemplate.replace(
        /(%\{[^}]*\}|<[^>]*>)|[a-z]+(?: [a-z]+)*/gi,
        (words: string, mark: string | undefined) => mark || say(words),
      );
  }
  for (const [name, axis] of Object.entries(layout))
    if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.text = say(axis.title.text);
  const named = (name: string) => tPart(name, say);
  const rows: string[] | undefined = layout.yaxis?.ticktext;
  if (layout.meta?.spoken) {
    for (const axis of [layout.xaxis, layout.yaxis])
      if (axis?.ticktext) axis.ticktext = axis.ticktext.map(named);
    for (const each of data) if (each.customdata) each.customdata = deep(each.customdata, named);
  } else if (rows)
    // others are a sentence's tokens
    layout.yaxis!.ticktext = rows.map((name) => (name === "all others" ? say(name) : name));
};

type Names = string | Names[];
const deep = (names: Names, say: Say): Names =>
  typeof names === "string" ? say(names) : names.map((each) => deep(each, say));

const WIDE = 1600; // pixels of a screen on which pictures stand side by side, and may be higher

/** As high as a figure's tokens need, where it does not say. */
const heightOf = ({ layout }: Figure): number => {
  const names = layout.yaxis?.ticktext;
  if (names) return clamp(150 + 24 * names.length, 260, phone() ? 480 : 640);
  return innerWidth >= WIDE ? clamp(0.62 * innerHeight, 400, 900) : 400;
};

/** A figure's layout on this screen: fingers scroll the page, and a phone has its legend below. */
const fitted = (figure: Figure, finger: boolean): Figure["layout"] => {
  const layout: Figure["layout"] = {
    ...figure.layout,
    autosize: true,
    font: { ...figure.layout.font, family: sans() },
    height: figure.layout.height || heightOf(figure),
  };
  if (finger) layout.dragmode = false;
  if (phone() && layout.legend?.orientation !== "h")
    layout.legend = { ...layout.legend, orientation: "h", x: 0, y: -0.2, yanchor: "top" };
  return layout;
};

/** Draw a figure into a plot. */
const drawInto = (plot: PlotNode, box: Element, figure: Figure): void => {
  const finger = touch();
  const bar = finger
    ? { modeBarButtons: [["toImage", svgButton()]] }
    : { modeBarButtonsToRemove: ["lasso2d", "select2d"], modeBarButtonsToAdd: [svgButton()] };
  const config = { ...PLOT_CONFIG, responsive: true, displayModeBar: "hover", ...bar };
  // a phone's colour bar needs all the height for its numbers
  for (const { colorbar } of phone() ? figure.data : []) if (colorbar) colorbar.len = 1;
  void window.Plotly!.react(plot, figure.data, fitted(figure, finger), config);
  plot.setAttribute("role", "figure");
  plot.setAttribute("aria-label", figure.layout.title?.text || titleOf(box));
};

const CHANGES = ["explorer-theme", "explorer-language"];

/**
 * Show `props.value` in the `.plot-view` of an element, whenever `watch` tells that it is another.
 * `say` turns a figure's words into the page's language: `t`, or a table of one's own before it.
 */
export const mountPlot = (
  element: Element,
  props: { value?: string | null },
  watch: (name: string, run: () => void) => void,
  say: Say = tText,
): void => {
  const box = element.querySelector(".plot-view")!;
  const plot = box.querySelector<PlotNode>(".plot")!;
  const note = box.querySelector("output")!;
  const draw = () => {
    if (!props.value || !window.Plotly || !box.clientWidth) return;
    const value = JSON.parse(props.value) as Shown;
    const refused = "error" in value;
    note.textContent = refused ? tMessage(value.error) : "";
    plot.hidden = refused;
    if (refused) return;
    const figure = themed(value);
    speakFigure(figure, say);
    drawInto(plot, box, figure);
  };
  const last = () => {
    // an answer may have taken this one's place
    if (box.isConnected) return draw();
    for (const change of CHANGES) removeEventListener(change, last);
  };
  watch("value", draw);
  for (const change of CHANGES) addEventListener(change, last);
  whenPlotly(draw);
  new ResizeObserver(draw).observe(box);
};
