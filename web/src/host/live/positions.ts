/* The Positions tab of a live page: the fields of ui/positions_tab.py, its figures made here. */

import { el } from "../../dom/element";
import { t } from "../../i18n/words";
import { sinusoids } from "../../live/engine/positions";
import { mountPlot } from "../../plot/figure";
import { copyPositionsLink, followPositions } from "../gradio/positions-link";
import { channel, type Channel } from "./channel";
import { type Caller, Stopped } from "./client";
import { segments } from "./form";
import {
  corner,
  curvesOf,
  dimensionsIn,
  heatmapOf,
  MOST_DIMENSIONS,
  similarityOf,
  type Table,
  type Templates,
} from "./positional";
import { site } from "./site";
import type { Weights } from "./weights";

const SAYS =
  "Attention does not know where a token stands; its position is added to its embedding. Each row of the table is one position. The paper takes sines and cosines of falling frequency, side by side (interleaved) or all sines before all cosines (concatenated); a table may also be learned.";
const SINUSOIDAL = "sinusoidal";
const LAYOUTS = ["interleaved", "concatenated"] as const;
const MOST_POSITIONS = 256;
const FIGURES = {
  heatmap: "The table",
  lines: "Chosen dimensions along the positions",
  similarity: "Similarity of positions, PE(p)·PE(q)",
} as const;
type Name = keyof typeof FIGURES;

const slider = (id: string, label: string, range: object, value: number): HTMLElement => {
  const input = el("input", { type: "range", ...range, value });
  const shown = el("output", { text: String(value), translate: "no" });
  input.addEventListener("input", () => (shown.textContent = input.value));
  return el(
    "div",
    { id },
    el("label", { class: "slider" }, el("span", { text: label }), shown, input),
  );
};

const choice = (id: string, label: string, choices: [string, string][]): HTMLElement => {
  const box = el("div", { class: "segments", id }, el("span", { text: label }));
  box.append(segments(id, choices, choices[0]![1]));
  return box;
};

/** Fields in the order of the served page's. */
const fieldsOf = (): HTMLElement[] => {
  const tables = site().offers.map(({ direction }): [string, string] => [
    `the table of ${direction}`,
    direction,
  ]);
  const curves = el("input", { type: "text", value: "5, 6, 7, 8, 9", translate: "no" });
  const link = el("button", { type: "button", id: "position-link", text: "Copy link" });
  link.addEventListener("click", () => void copyPositionsLink(...valuesOf()));
  return [
    el("p", { text: SAYS }),
    el(
      "div",
      { class: "controls" },
      choice("position-table", "Table", [[SINUSOIDAL, SINUSOIDAL], ...tables]),
      choice(
        "position-layout",
        "Layout",
        LAYOUTS.map((each) => [each, each]),
      ),
    ),
    el(
      "div",
      { class: "controls" },
      slider("position-length", "Positions", { min: 8, max: MOST_POSITIONS, step: 1 }, 100),
      slider("position-depth", "Dimensions", { min: 4, max: MOST_DIMENSIONS, step: 2 }, 32),
      el(
        "div",
        { id: "position-curves" },
        el("label", { class: "slider" }, el("span", { text: "Curves of dimensions" }), curves),
      ),
      el("p", { class: "settings-note", text: "What is changed here takes effect at once." }),
      link,
    ),
  ];
};

const input = (selector: string): HTMLInputElement =>
  document.querySelector<HTMLInputElement>(`#position-${selector}`)!;

/** Table, layout, positions, dimensions, curves. */
const valuesOf = (): [string, (typeof LAYOUTS)[number], number, number, string] => [
  input("table input:checked").value,
  input("layout input:checked").value as (typeof LAYOUTS)[number],
  Number(input("length input").value),
  Number(input("depth input").value),
  input("curves input").value,
];

const figureOf = (name: Name, { props, watch }: Channel): HTMLElement => {
  const plot = el("div", { class: "plot" });
  const view = el("div", { class: "plot-view" }, plot, el("output", { "aria-live": "polite" }));
  const box = el("div", { id: `position-${name}` }, view);
  mountPlot(box, props, watch);
  return el("div", {}, el("h2", { text: FIGURES[name] }), box);
};

/** Everything in `element`; what is chosen is drawn at once, a checkpoint's table once its weights are here. */
export const mountPositions = (element: HTMLElement, client: Caller, weights: Weights): void => {
  const names = Object.keys(FIGURES) as Name[];
  const told = names.map(() => channel());
  const figures = el("div", { class: "figures" });
  figures.append(...names.map((name, at) => figureOf(name, told[at]!)));
  element.append(...fieldsOf(), figures);
  const templates = fetch("positions.json").then((answer) => answer.json() as Promise<Templates>);
  let stopper = new AbortController();

  const table = async (signal: AbortSignal): Promise<Table> => {
    const [source, layout, rows, wanted] = valuesOf();
    const columns = Math.min(wanted, MOST_DIMENSIONS);
    if (source === SINUSOIDAL) return { values: sinusoids(rows, columns, layout), rows, columns };
    await weights.ready(source, signal);
    const own = await client.call("positions", { direction: source }, { signal });
    const whole = { values: own.table, rows: own.table.length / own.width, columns: own.width };
    return corner(whole, rows, columns);
  };
  const curves = (drawn: Templates["curves"], found: Table): string => {
    try {
      return curvesOf(drawn, found, dimensionsIn(valuesOf()[4], found.columns));
    } catch (error) {
      return JSON.stringify({ error: (error as Error).message }); // the other figures do not hang on it
    }
  };
  const draw = async () => {
    stopper.abort();
    stopper = new AbortController();
    const { signal } = stopper;
    try {
      const [drawn, found] = await Promise.all([templates, table(signal)]);
      if (signal.aborted) return;
      told[0]!.tell(heatmapOf(drawn.heatmap, found));
      told[1]!.tell(curves(drawn.curves, found));
      told[2]!.tell(similarityOf(drawn.similarity, found));
    } catch (error) {
      if (signal.aborted) return;
      const said = error instanceof Stopped ? t("Stopped.") : (error as Error).message;
      for (const each of told) each.tell(JSON.stringify({ error: said }));
    }
  };
  element.addEventListener("change", () => void draw());
  followPositions();
  void draw();
};
