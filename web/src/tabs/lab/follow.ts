/* Cells of a figure that can be taken: by a click, or by the arrow keys and Enter; those taken have
   a frame. */

import { colour } from "../../design/scales";
import { clamp } from "../../format/number";
import type { PlotNode } from "../../plot/plotly";

export interface Followed {
  /** What each cell stands for, rows of columns. */
  cells: readonly (readonly unknown[])[];
  /** What is taken now. */
  chosen: () => readonly unknown[];
  toggle: (cell: unknown) => void;
}

const frame = (row: number, column: number, dash: string) => ({
  type: "rect",
  x0: column - 0.5,
  x1: column + 0.5,
  y0: row - 0.5,
  y1: row + 0.5,
  line: { color: colour("here"), width: 2, dash },
});

/** Make the cells of `plot` ones that can be taken, as soon as Plotly has drawn it. */
export const followCells = (plot: PlotNode, props: Followed): void => {
  if (!plot.isConnected) return;
  if (!plot._fullLayout) {
    requestAnimationFrame(() => followCells(plot, props));
    return;
  }
  const { cells, chosen, toggle } = props;
  let cursor: [number, number] | null = null;
  const paint = () => {
    if (!plot.isConnected) return removeEventListener("lab-followed", paint);
    const taken = new Set(chosen().map((each) => JSON.stringify(each)));
    const shapes = cells.flatMap((row, y) =>
      row.flatMap((cell, x) => (taken.has(JSON.stringify(cell)) ? [frame(y, x, "solid")] : [])),
    );
    if (cursor) shapes.push(frame(...cursor, "dot"));
    void window.Plotly!.relayout(plot, { shapes });
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    const [row, column] = cursor ?? [0, 0];
    if (step) {
      cursor = [
        clamp(row + step[0]!, 0, cells.length - 1),
        clamp(column + step[1]!, 0, cells[0]!.length - 1),
      ];
      paint();
    } else if (event.key === "Enter" || event.key === " ") toggle(cells[row]![column]);
    else return;
    event.preventDefault();
  };
  plot.tabIndex = 0;
  plot.addEventListener("keydown", move);
  plot.addEventListener("focus", () => {
    cursor ??= [0, 0];
    paint();
  });
  plot.addEventListener("blur", () => {
    cursor = null;
    paint();
  });
  plot.on("plotly_click", ({ points: [point] }: { points: { x: number; y: number }[] }) => {
    const cell = point && cells[point.y]?.[point.x];
    if (cell) toggle(cell);
  });
  addEventListener("lab-followed", paint);
};
