/* Positions in pixels, from Plotly's own axes, so that a zoomed map keeps its frames. */

import { clamp } from "../../format/number";
import type { Axis, PlotNode } from "../../plot/plotly";
import type { Cell } from "../../state/view";
import type { Picture } from "../../trace/picture";

export interface Axes {
  x: Axis;
  y: Axis;
}

export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The axes of a plot; null: Plotly has not drawn it. */
export const axesOf = ({ _fullLayout: layout }: PlotNode): Axes | null =>
  layout ? { x: layout.xaxis, y: layout.yaxis } : null;

/** The cells of row i from column j0 to j1, as far as they are in sight. */
export const cellArea = ({ x, y }: Axes, i: number, j0: number, j1: number): Area => {
  const across = (at: number) => clamp(x._offset + x.l2p(at), x._offset, x._offset + x._length);
  const down = (at: number) => clamp(y._offset + y.l2p(at), y._offset, y._offset + y._length);
  return {
    left: across(j0 - 0.5),
    right: across(j1 + 0.5),
    top: down(i - 0.5),
    bottom: down(i + 0.5),
  };
};

/** The cell that an event points at, or null. */
export const cellAt = (plot: PlotNode, picture: Picture, event: MouseEvent): Cell | null => {
  const axes = axesOf(plot);
  if (!axes) return null;
  const rect = plot.getBoundingClientRect();
  const px = event.clientX - rect.left - axes.x._offset;
  const py = event.clientY - rect.top - axes.y._offset;
  if (px < 0 || py < 0 || px > axes.x._length || py > axes.y._length) return null;
  const j = Math.round(axes.x.p2l(px));
  const i = Math.round(axes.y.p2l(py));
  return picture.rows[i] && picture.columns[j] ? { i, j } : null;
};
