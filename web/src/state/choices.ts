/* What a choice makes of the view. */

import type { Kind, Place } from "../protocol/messages";
import type { View } from "./view";

/** What another kind of attention brings with it. */
export const toKind = (kind: Kind, { aggregate }: View): Partial<View> => ({
  kind,
  hover: null,
  cell: null,
  role: null,
  overlay: [],
  pins: { rows: [], columns: [] },
  ...(aggregate === "rollout" && kind !== "encoder" ? { aggregate: "layer-mean" } : {}),
});

const toggled = (list: number[], id: number): number[] =>
  list.includes(id) ? list.filter((each) => each !== id) : [...list, id];

/** A row or a column pinned, or no longer. */
export const pinned = (pins: View["pins"], side: "rows" | "columns", id: number): View["pins"] => ({
  ...pins,
  [side]: toggled(pins[side], id),
});

/** The row and the column of a cell pinned; or neither, where both are. */
export const pinnedCell = (pins: View["pins"], row: number, column: number): View["pins"] => {
  const both = pins.rows.includes(row) && pins.columns.includes(column);
  const one = (list: number[], id: number) =>
    both ? list.filter((each) => each !== id) : list.includes(id) ? list : [...list, id];
  return { rows: one(pins.rows, row), columns: one(pins.columns, column) };
};

/** A head laid over the others, the present one first among them; or taken away. */
export const overlaid = (
  { overlay, layer, head }: Pick<View, "overlay" | "layer" | "head">,
  [l, h]: Place,
): Place[] => {
  const same = ([a, b]: Place) => a === l && b === h;
  if (overlay.some(same)) return overlay.filter((place) => !same(place));
  const base: Place[] = overlay.length ? overlay : [[layer, head]];
  return base.some(same) ? base : [...base, [l, h]];
};
