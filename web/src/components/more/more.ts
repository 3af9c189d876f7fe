/* The folded sheet of options that are seldom changed, and the paper's figures. */

import { el } from "../../dom/element";
import { t } from "../../i18n/words";
import type { Place } from "../../protocol/messages";
import type { ExplorerContext, Part } from "../../state/context";
import type { View } from "../../state/view";
import { aggregateHeads } from "../../trace/aggregate";

type Needs = Pick<ExplorerContext, "signal" | "find" | "state" | "trace" | "set">;
type Option = [value: string, text: string];

/** A choice of the view as a line with its name. */
const choice = (x: Needs, name: keyof View, options: Option[], label: string): HTMLElement => {
  const select = el("select", {
    class: "pick",
    on: { change: () => x.set({ [name]: select.value }) },
  });
  select.append(...options.map(([value, text]) => el("option", { value, text })));
  select.value = String(x.state[name]);
  return el("label", { class: "line" }, el("span", { text: label }), select);
};

/** A box to tick; `also` is what changes with it. */
const check = (
  x: Needs,
  name: "renormalise" | "only" | "numbers",
  label: string,
  also: (on: boolean) => Partial<View> = () => ({}),
): HTMLElement => {
  const box = el("input", {
    type: "checkbox",
    checked: x.state[name],
    on: { change: () => x.set({ [name]: box.checked, ...also(box.checked) }) },
  });
  return el("label", { class: "check" }, box, label);
};

const labels = (x: Needs): HTMLElement =>
  choice(
    x,
    "labels",
    [
      ["both", t("reads → predicts")],
      ["reads", t("query (reads)")],
      ["predicts", t("predicts")],
    ],
    t("Row names"),
  );

const colours = (x: Needs): HTMLElement =>
  choice(
    x,
    "palette",
    [
      ["house", t("zero matches the background")],
      ["viridis", "Viridis"],
      ["cividis", "Cividis"],
    ],
    t("Colours"),
  );

const tiles = (x: Needs): HTMLElement =>
  choice(
    x,
    "tile",
    [
      ["map", t("whole maps")],
      ["row", t("the chosen row only")],
    ],
    t("Tiles show"),
  );

/**
 * Figures 3 to 5 of Vaswani et al. 2017: what lies over each other, and whether only one word's
 * arcs are shown.
 */
const FIGURES: ((x: Needs) => { only: boolean; overlay: Place[] })[] = [
  (x) => ({ only: true, overlay: aggregateHeads(x.trace, x.state, "layer").slice(0, 8) }),
  () => ({ only: false, overlay: [] }),
  ({ state: { layer, head }, trace }) => ({
    only: true,
    overlay: [
      [layer, head],
      [layer, (head + 1) % trace.maps.encoder.heads],
    ],
  }),
];

const showFigure = (x: Needs, number: number): void => {
  if (x.trace.live) return;
  const pins = { rows: [], columns: [] };
  const figure = () => x.set(FIGURES[number](x)); // the head may have given way
  x.set({ kind: "encoder", view: "arcs", pins, hover: null }, figure);
};

export const makeMore = (x: Needs): Part => {
  const sheet = x.find(".more .sheet");
  const details = x.find<HTMLDetailsElement>(".more");
  const button = (text: string, run: () => void) => {
    const click = () => {
      run();
      details.open = false;
    };
    return el("button", { type: "button", class: "btn", text, on: { click } });
  };
  const cap = (text: string) => el("p", { class: "cap", text });
  const figures = () =>
    [t("3: one word, all heads"), t("4: one head, whole"), t("5: one word, two heads")].map(
      (text, number) => button(text, () => showFigure(x, number)),
    );
  const clearing = () => {
    const { pins, overlay } = x.state;
    const clear: HTMLElement[] = [];
    if (overlay.length) clear.push(button(t("Clear chosen heads"), () => x.set({ overlay: [] })));
    if (pins.rows.length || pins.columns.length)
      clear.push(button(t("Clear pins"), () => x.set({ pins: { rows: [], columns: [] } })));
    return clear.length ? [el("div", { class: "ends" }, ...clear)] : [];
  };

  const paint = () => {
    const rescale = (on: boolean): Partial<View> =>
      x.state.specials === "shown" ? {} : { specials: on ? "renormalised" : "hidden" };
    sheet.replaceChildren(
      labels(x),
      colours(x),
      tiles(x),
      check(x, "numbers", t("Numbers in the cells")),
      cap(t("Weights to two decimals; cells that are too small show none")),
      check(x, "renormalise", t("Scale rows to 1 when specials are hidden"), rescale),
      check(x, "only", t("Arcs of the chosen row only")),
      cap(t("The paper's figures, on this sentence")),
      el("div", { class: "ends" }, ...figures()),
      cap(
        t(
          "Shift-click a tile to lay heads over each other; shift-click a cell, or press P, to pin its row and column",
        ),
      ),
      ...clearing(),
    );
  };

  const close = (event: Event) => {
    if (details.open && !details.contains(event.target as Node)) details.open = false;
  };
  document.addEventListener("pointerdown", close, { signal: x.signal });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    details.open = false;
    details.querySelector("summary")!.focus();
    event.stopPropagation();
  });
  return {
    needs:
      "trace labels palette tile specials numbers renormalise only pins overlay language".split(
        " ",
      ),
    paint,
  };
};
