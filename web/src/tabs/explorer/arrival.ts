/* What is chosen as a translation arrives, and while it is being written. */

import type { Signals } from "../../state/context";
import { type View, type Wish, within } from "../../state/view";
import type { Translation } from "../../trace/translation";

type Patch = Partial<View & Signals>;

/**
 * The view that was left for a translation that is being written; `picked`: another head was chosen
 * meanwhile.
 */
export type Before = View & { picked?: boolean };

/**
 * The view of a translation that has arrived: the kind stays as it was `before`, and so does the
 * head if it is one of the `same` model or was picked; nothing points at the tokens of another
 * sentence. What was linked to (`wish`) prevails.
 */
export const arrived = (
  trace: Translation,
  { kind, layer, head, view, picked }: Before,
  same: boolean,
  wish: Wish,
): Patch => ({
  kind: trace.kinds.includes(kind) ? kind : trace.kinds[trace.kinds.length - 1],
  view,
  ...(same || picked ? { layer, head } : trace.leading),
  step: Math.max(0, Math.min(3, trace.tgt.length - 1)),
  query: Math.max(0, Math.min(1, trace.src.length - 1)),
  hover: null,
  cell: null,
  peek: null,
  pins: { rows: [], columns: [] },
  overlay: [],
  ...within(trace, wish),
});

/** The view while one is written: there are cross rows alone. */
export const writing = (view: View["view"]): Patch => ({
  kind: "cross",
  view: view === "aggregate" ? "heatmap" : view,
  pins: { rows: [], columns: [] },
  overlay: [],
  hover: null,
  peek: null,
});

/**
 * While one is written, what else is asked for is kept in `wish` until it is whole; gives what
 * changes now.
 */
export const whileWriting = (
  { kind, ...patch }: Patch,
  wish: Before,
  view: View["view"],
): Patch => {
  const { layer, head, view: wished } = { ...wish, ...patch };
  const picked = wish.picked || "layer" in patch || "head" in patch;
  Object.assign(wish, { kind: kind || wish.kind, layer, head, view: wished, picked });
  return patch.view === "aggregate" ? { ...patch, view } : patch;
};
