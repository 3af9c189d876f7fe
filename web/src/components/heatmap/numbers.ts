/* Weights written into the cells that have room for them. */

import { type Colour, inkOn } from "../../design/colour";
import { svgEl } from "../../dom/element";
import type { Cells } from "../../plot/cells";
import { numberSize, numberText } from "../../plot/numbers";
import type { Picture } from "../../trace/picture";
import type { Axes } from "./axes";

export interface NumbersView {
  picture: Picture;
  /** What gives each cell its colour. */
  cells: Cells;
  table: Colour[];
  /** The size of letters, at most. */
  most: number;
}

export interface Numbers {
  node: SVGElement;
  /**
   * Write what is in sight of the axes; `key` names all that it depends on: as long as it stays,
   * nothing is done.
   */
  paint(axes: Axes, key: string, view: () => NumbersView): void;
  clear(): void;
}

export const makeNumbers = (): Numbers => {
  const node = svgEl("svg", { class: "numbers", "aria-hidden": "true" });
  let drawn = "";

  const write = ({ x, y }: Axes, { picture, cells, table, most }: NumbersView): SVGElement[] => {
    const [wide, high] = [x, y].map((axis) => Math.abs(axis.l2p(1) - axis.l2p(0)));
    const size = numberSize(wide, high, most);
    if (!size) return [];
    return picture.z.flatMap((values, i) =>
      values.flatMap((weight, j) => {
        const shown = cells[i][j];
        const text = numberText(weight);
        const [left, top] = [x.l2p(j), y.l2p(i)];
        const inside = left > 0 && left < x._length && top > 0 && top < y._length;
        if (shown === null || !text || !inside) return [];
        const fill = inkOn(table[Math.round(256 * Math.min(1, shown))]);
        return [svgEl("text", { x: left, y: top + 0.35 * size, "font-size": size, fill }, text)];
      }),
    );
  };
  return {
    node,
    paint: (axes, key, view) => {
      const now = [key, axes.x.range, axes.y.range, axes.x._length, axes.y._length].join();
      if (now === drawn) return;
      drawn = now;
      node.replaceChildren(...write(axes, view()));
    },
    clear: () => {
      if (drawn) node.replaceChildren();
      drawn = "";
    },
  };
};
