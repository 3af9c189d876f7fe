/* The answer to a question: sentences, figures, a table. */

import { ribbons } from "../../components/ribbons/ribbons";
import { el } from "../../dom/element";
import { languagesOf } from "../../i18n/language";
import { percents } from "../../i18n/numerals";
import { t, tPart, tText, tTextParts } from "../../i18n/words";
import { mountPlot } from "../../plot/figure";
import { type PlotNode, whenPlotly } from "../../plot/plotly";
import type { Alignment, LabAnswer, Line } from "../../protocol/lab";
import { followCells } from "./follow";
import type { Options } from "./form";

type Find = <E extends Element = HTMLElement>(selector: string) => E;

/** Columns and {holes} that hold words of ours. */
const SPOKEN = ["role", "fate", "method"];
/** Columns and {holes} that hold shares in percent. */
const SHARES = ["share", "kept", "source", "target", "from the source", "from the target so far"];
const FAINTEST = 0.1; // a link's weight, at least

/**
 * A link keeps its weight as width and colour; a link of one's own that was not found is dashed.
 */
const alignmentOf = (
  { source, target, words, links, gold }: Alignment,
  way: string,
  width: number,
): HTMLElement => {
  const [from, to] = languagesOf(way);
  const found = new Set(links.map(String));
  const weight = (s: number, g: number) =>
    found.has(`${s},${g}`) ? Math.max(words[g][s], FAINTEST) : 0;
  const svg = ribbons({
    rows: [
      { name: t("Source"), words: source, lang: from },
      { name: t("Translation"), words: target, lang: to },
    ],
    bands: [source.map((_, s) => target.map((_, g) => weight(s, g)))],
    missed: gold.filter((pair) => !found.has(String(pair))),
    width,
    label: t("Alignment"),
  });
  return el("div", { class: "lab-ribbons", translate: "no" }, svg);
};

/**
 * What stands in a column or a {hole}, in the page's language; the sentence's own tokens stay as
 * they are.
 */
const valueOf = (name: string, text: string): string => {
  if (SPOKEN.includes(name)) return tText(text);
  if (name === "part") return tPart(text);
  return SHARES.includes(name) ? percents(text) : text;
};

const tableOf = ({ head, rows }: NonNullable<LabAnswer["table"]>): HTMLElement => {
  const titles = head.map((text) => el("th", { scope: "col", text: tText(text) }));
  const lines = rows.map((row) =>
    el("tr", {}, ...row.map((text, i) => el("td", { text: valueOf(head[i], text) }))),
  );
  return el("table", {}, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...lines));
};

const lineOf = ([english, values]: Line): HTMLElement => {
  const said = Object.entries(values).map(([name, value]) => [name, valueOf(name, String(value))]);
  return el("p", {}, ...tTextParts(english, Object.fromEntries(said)));
};

/** Lines of which a slider shows one; it begins with the last. */
const slidesOf = (all: Line[]): HTMLElement => {
  const last = all.length - 1;
  const shown = el("div", { class: "lab-slide" }, lineOf(all[last]));
  const slider = el("input", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    value: last,
    "aria-label": t("Encoder layer"),
    on: { input: () => shown.replaceChildren(lineOf(all[slider.valueAsNumber])) },
  });
  return el("div", { class: "lab-slides" }, slider, shown);
};

/** Sentences alone, where the rest of an answer stays. */
export const paintLines = (find: Find, { lines = [], slides }: LabAnswer): void =>
  find(".lab-lines").replaceChildren(...lines.map(lineOf), ...(slides ? [slidesOf(slides)] : []));

/** What a click on the first figure chooses, or null. */
const chosenBy = ({ picks, cells }: LabAnswer, point: { x: number; y: number }): Options | null => {
  if (picks) return picks[point.y] ? { choice: picks[point.y] } : null;
  return cells ? { query: point.y + 1, key: point.x + 1 } : null;
};

const figureHolder = (caption?: string): HTMLElement =>
  el(
    "figure",
    {},
    ...(caption ? [el("figcaption", { class: "cap", text: tText(caption) })] : []),
    el(
      "div",
      { class: "plot-view" },
      el("div", { class: "plot" }),
      el("output", { "aria-live": "polite" }),
    ),
  );

export interface AnswerProps {
  /** The direction of the sentence. */
  way: string;
  /** Told what a click on a figure chooses. */
  choose: (options: Options) => void;
  /** The cells that are taken, and what takes one or gives it back. */
  taken: () => readonly unknown[];
  take: (cell: unknown) => void;
}

/** Show an answer. */
export const paintAnswer = (
  find: Find,
  answer: LabAnswer,
  { way, choose, taken, take }: AnswerProps,
): void => {
  const figures = find(".lab-figures");
  const table = find(".lab-table");
  const drawn = answer.figures ?? [];
  paintLines(find, answer);
  find(".lab-answer").classList.toggle("pictured", drawn.length > 0 || !!answer.ribbons);
  figures.replaceChildren();
  if (answer.ribbons) figures.append(alignmentOf(answer.ribbons, way, figures.clientWidth));
  drawn.forEach((value, n) => {
    const holder = figureHolder(answer.captions?.[n]);
    figures.append(holder);
    mountPlot(holder, { value }, () => {});
    const plot = holder.querySelector<PlotNode>(".plot")!;
    const cells = answer.follow?.cells[n];
    if (cells) whenPlotly(() => followCells(plot, { cells, chosen: taken, toggle: take }));
    if (n || !(answer.cells || answer.picks)) return;
    const clicked = ({ points }: { points: { x: number; y: number }[] }) => {
      const options = chosenBy(answer, points[0]);
      if (options) choose(options);
    };
    whenPlotly(() => plot.on?.("plotly_click", clicked));
  });
  table.replaceChildren(...(answer.table ? [tableOf(answer.table)] : []));
  const scrolls = table.scrollHeight > table.clientHeight || table.scrollWidth > table.clientWidth;
  table.tabIndex = scrolls ? 0 : -1; // what scrolls can be scrolled by keys
};
