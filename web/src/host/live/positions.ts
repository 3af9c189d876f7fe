/* The Positions tab of a live page: the fields of ui/positions_tab.py, its figures made here. */

import { el } from "../../dom/element";
import { type Sentence, t } from "../../i18n/words";
import { sinusoids } from "../../live/engine/positions";
import { mountPlot } from "../../plot/figure";
import { POSITIONS } from "../../protocol/registry";
import { copyPositionsLink, followPositions } from "../gradio/positions-link";
import { channel, type Channel } from "./channel";
import { type Caller, Stopped } from "./client";
import { segments } from "./form";
import {
  corner,
  curvesOf,
  dimensionsIn,
  heatmapOf,
  similarityOf,
  type Table,
  type Templates,
} from "./positional";
import { site } from "./site";
import type { Weights } from "./weights";

const { says: SAYS, fields: FIELDS } = POSITIONS;
const SINUSOIDAL = FIELDS.table.value;
type Layout = "interleaved" | "concatenated";
const FIGURES = {
  heatmap: "The table",
  lines: "Chosen dimensions along the positions",
  similarity: "Similarity of positions, PE(p)·PE(q)",
} as const satisfies Record<string, Sentence>;
type Name = keyof typeof FIGURES;

const slider = (
  id: string,
  { label, low: min, high: max, step, value }: typeof FIELDS.positions,
): HTMLElement => {
  const input = el("input", { type: "range", min, max, step, value });
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
  const curves = el("input", { type: "text", value: FIELDS.curves.value, translate: "no" });
  const link = el("button", {
    type: "button",
    id: "position-link",
    text: "Copy link" satisfies Sentence,
  });
  link.addEventListener("click", () => void copyPositionsLink(...valuesOf()));
  return [
    el("p", { text: SAYS }),
    el(
      "div",
      { class: "controls" },
      choice("position-table", FIELDS.table.label, [[SINUSOIDAL, SINUSOIDAL], ...tables]),
      choice(
        "position-layout",
        FIELDS.layout.label,
        FIELDS.layout.choices.map((each) => [each, each]),
      ),
    ),
    el(
      "div",
      { class: "controls" },
      slider("position-length", FIELDS.positions),
      slider("position-depth", FIELDS.dimensions),
      el(
        "div",
        { id: "position-curves" },
        el("label", { class: "slider" }, el("span", { text: FIELDS.curves.label }), curves),
      ),
      el("p", {
        class: "settings-note",
        text: "What is changed here takes effect at once." satisfies Sentence,
      }),
      link,
    ),
  ];
};

const input = (selector: string): HTMLInputElement =>
  document.querySelector<HTMLInputElement>(`#position-${selector}`)!;

/** Table, layout, positions, dimensions, curves. */
const valuesOf = (): [string, Layout, number, number, string] => [
  input("table input:checked").value,
  input("layout input:checked").value as Layout,
  Number(input("length input").value),
  Number(input("depth input").value),
  input("curves input").value,
];

const figureOf = (name: Name, { props, watch }: Channel<string>): HTMLElement => {
  const plot = el("div", { class: "plot" });
  const view = el("div", { class: "plot-view" }, plot, el("output", { "aria-live": "polite" }));
  const box = el("div", { id: `position-${name}` }, view);
  mountPlot(box, props, watch);
  return el("div", {}, el("h2", { text: FIGURES[name] }), box);
};

/**
 * Everything in `element`; what is chosen is drawn at once, a checkpoint's table once its weights
 * are here.
 */
export const mountPositions = (element: HTMLElement, client: Caller, weights: Weights): void => {
  const names = Object.keys(FIGURES) as Name[];
  const told = names.map(() => channel<string>());
  const figures = el("div", { class: "figures" });
  figures.append(...names.map((name, at) => figureOf(name, told[at]!)));
  element.append(...fieldsOf(), figures);
  const templates = fetch("positions.json").then((answer) => answer.json() as Promise<Templates>);
  let stopper = new AbortController();

  const table = async (signal: AbortSignal): Promise<Table> => {
    const [source, layout, rows, columns] = valuesOf();
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
      // the other figures do not hang on it
      return JSON.stringify({ error: (error as Error).message });
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
