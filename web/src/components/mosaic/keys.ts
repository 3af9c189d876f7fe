/* Another head by the keyboard. */

import { phone } from "../../dom/screen";
import { clamp } from "../../format/number";
import type { ExplorerContext } from "../../state/context";
import type { View } from "../../state/view";
import type { Layout } from "./layout";

type Needs = Pick<ExplorerContext, "state" | "trace">;

const FAR = 1e9; // more tiles than there are

/**
 * Another head by the keyboard: to a neighbour, to the first or the last, on a phone to the next
 * layer.
 */
export const moveBy = (x: Needs, { tiles, columns }: Layout, key: string): Partial<View> | null => {
  const moves: Record<string, number> = {
    ArrowUp: -columns,
    ArrowDown: columns,
    ArrowLeft: -1,
    ArrowRight: 1,
    Home: -FAR,
    End: FAR,
  };
  const move = moves[key];
  if (move === undefined) return null;
  const { kind, layer, head, sort } = x.state;
  const now = tiles.findIndex((tile) => tile.l === layer && tile.h === head);
  const last = tiles.length - 1;
  if (phone() && sort === "layer" && (now + move < 0 || now + move > last))
    return { layer: clamp(layer + Math.sign(move), 0, x.trace.maps[kind].layers - 1) };
  const next =
    Math.abs(move) === FAR
      ? clamp(now + move, 0, last)
      : (now + move + tiles.length) % tiles.length;
  return { layer: tiles[next].l, head: tiles[next].h, hover: null };
};
