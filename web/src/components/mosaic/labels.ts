/* The names round the tiles: heads above, layers beside, and on a phone the layers to choose
   from. */

import { el } from "../../dom/element";
import { phone } from "../../dom/screen";
import type { ExplorerContext } from "../../state/context";
import type { Layout } from "./layout";
import { inGrid } from "./order";

type Needs = Pick<ExplorerContext, "find" | "state" | "trace" | "set">;

export interface Labels {
  nodes: HTMLElement[];
  paint(layout: Layout): void;
}

interface Label {
  text: string;
  style: string;
  on: boolean;
}

/** New labels only where a text or a place changed; else only what is marked. */
const relabel = (box: HTMLElement, labels: Label[]): void => {
  const nodes = box.children;
  const same = ({ text, style }: Label, i: number) =>
    nodes[i].textContent === text && nodes[i].getAttribute("style") === style;
  if (nodes.length !== labels.length || !labels.every(same))
    box.replaceChildren(...labels.map(({ text, style }) => el("span", { text, style })));
  labels.forEach(({ on }, i) => nodes[i].classList.toggle("on", on));
};

const layerButton = (x: Needs, layer: number): HTMLElement =>
  el("button", {
    type: "button",
    text: "L" + (layer + 1),
    on: { click: () => x.set({ layer }) },
  });

export const makeLabels = (x: Needs): Labels => {
  const layers = x.find(".layers");
  const heads = el("div", { class: "head-labels", "aria-hidden": "true" });
  const rows = el("div", { class: "layer-labels", "aria-hidden": "true" });
  const paint: Labels["paint"] = ({ tiles, columns, lines, h, gap }) => {
    const { layer, head } = x.state;
    const grid = inGrid(x);
    const across = grid ? tiles.slice(0, columns) : [];
    relabel(
      heads,
      across.map(({ h: n, x: left, w }) => ({
        text: "H" + (n + 1),
        style: `left:${left}px;width:${w}px`,
        on: n === head,
      })),
    );
    relabel(
      rows,
      Array.from({ length: phone() ? 0 : lines }, (_, i) => ({
        text: grid ? "L" + (i + 1) : String(i * columns + 1),
        style: `top:${i * (h + gap)}px;height:${h}px`,
        on: grid && i === layer,
      })),
    );
    const count = x.trace.maps[x.state.kind].layers;
    if (layers.children.length !== count)
      layers.replaceChildren(...Array.from({ length: count }, (_, l) => layerButton(x, l)));
    [...layers.children].forEach((button, l) =>
      button.setAttribute("aria-pressed", String(l === layer)),
    );
  };
  return { nodes: [heads, rows], paint };
};
