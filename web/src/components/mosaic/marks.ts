/* What marks a tile: the present row, a role that is looked for, heads that lie over each other. */

import type { ExplorerContext } from "../../state/context";
import type { Tile } from "./layout";
import { inGrid } from "./order";
import type { Marks } from "./paint";

type Needs = Pick<ExplorerContext, "state" | "trace" | "roleOf">;

export const isChosen = ({ state }: Pick<Needs, "state">, { l, h }: Tile): boolean =>
  l === state.layer && h === state.head;

export const marksOf = (x: Needs): Marks => {
  const { kind, role, overlay, playing, tile: mode, sort: by } = x.state;
  return {
    row: x.trace.rowOf(kind, x.state),
    rows: x.trace.maps[kind].rows,
    rowOnly: mode === "row",
    future: playing && kind !== "encoder",
    playing,
    isChosen: (tile) => isChosen(x, tile),
    isFaded: ({ l, h }) => !!role && x.roleOf(kind, l, h) !== role,
    overlay: ({ l, h }) => overlay.findIndex(([a, b]) => a === l && b === h),
    name: ({ l, h }) => (inGrid(x) ? null : by === "layer" ? `H${h + 1}` : `L${l + 1} H${h + 1}`),
  };
};
