/* Where each head's tile stands. Numbers only. */

import { clamp } from "../../format/number";
import type { Place } from "../../protocol/messages";

/** A tile: layer, head, its number, and its place in pixels. */
export interface Tile {
  l: number;
  h: number;
  n: number;
  x: number;
  y: number;
  w: number;
  tall: number;
}

export interface Layout {
  tiles: Tile[];
  /** Tiles in a line. */
  columns: number;
  /** Lines of tiles. */
  lines: number;
  width: number;
  height: number;
  gap: number;
  /** One tile. */
  w: number;
  h: number;
}

const ON_PHONES = 4; // tiles in a line
const ROLES = 62; // pixels of what stands below

/** A grid of `heads` columns for `places` in their order; on a phone of four. */
export const layOut = (
  places: readonly Place[],
  heads: number,
  { width, room, small }: { width: number; room: number; small: boolean },
): Layout => {
  const columns = small ? Math.min(ON_PHONES, heads) : heads;
  const gap = small ? 8 : heads > 12 ? 2 : 4;
  const lines = Math.ceil(places.length / columns);
  const w = (width - gap * (columns - 1)) / columns;
  const each = (room - ROLES - gap * (lines - 1)) / lines;
  const h = small ? 76 : clamp(each, 22, Math.max(62, 1.8 * w));
  const tiles = places.map(([layer, head], n) => ({
    l: layer,
    h: head,
    n,
    x: (n % columns) * (w + gap),
    y: Math.floor(n / columns) * (h + gap),
    w,
    tall: h,
  }));
  return { tiles, columns, lines, width, height: lines * (h + gap) - gap, gap, w, h };
};
