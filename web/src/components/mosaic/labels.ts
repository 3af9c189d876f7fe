/* The names round the tiles: heads above, layers beside, and on a phone the layers to choose from. */

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

const span = (name: string, text: string, style: string): HTMLElement =>
  el("span", { class: name, text, style });

const layerButtons = (x: Needs): HTMLElement[] =>
  Array.from({ length: x.trace.maps[x.state.kind].layers }, (_, l) =>
    el("button", {
      type: "button",
      "aria-pressed": l === x.state.layer,
      text: "L" + (l + 1),
      on: { click: () => x.set({ layer: l }) },
    }),
  );

export const makeLabels = (x: Needs): Labels => {
  const layers = x.find(".layers");
  const heads = el("div", { class: "head-labels", "aria-hidden": "true" });
  const rows = el("div", { class: "layer-labels", "aria-hidden": "true" });
  const paint: Labels["paint"] = ({ tiles, columns, lines, h, gap }) => {
    const { layer, head } = x.state;
    const grid = inGrid(x);
    const across = grid ? tiles.slice(0, columns) : [];
    heads.replaceChildren(
      ...across.map(({ h: n, x: left, w }) =>
        span(n === head ? "on" : "", "H" + (n + 1), `left:${left}px;width:${w}px`),
      ),
    );
    rows.replaceChildren(
      ...Array.from({ length: phone() ? 0 : lines }, (_, i) =>
        span(
          grid && i === layer ? "on" : "",
          grid ? "L" + (i + 1) : String(i * columns + 1),
          `top:${i * (h + gap)}px;height:${h}px`,
        ),
      ),
    );
    layers.replaceChildren(...layerButtons(x));
  };
  return { nodes: [heads, rows], paint };
};
