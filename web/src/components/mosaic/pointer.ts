/* What a pointer is on, and what is said of it. */

import { clamp } from "../../format/number";
import { tParts } from "../../i18n/words";
import type { ExplorerContext } from "../../state/context";
import { usually } from "../../trace/names";
import type { Tile } from "./layout";

type Needs = Pick<ExplorerContext, "state" | "trace">;

/** The cell of a tile that the pointer is on, or null. */
export type Pointed = Tile & { row: number; column: number };

export const pointedAt = (x: Needs, canvas: HTMLElement, tiles: Tile[], event: MouseEvent) => {
  const rect = canvas.getBoundingClientRect();
  const px = event.clientX - rect.left;
  const py = event.clientY - rect.top;
  const tile = tiles.find(
    (each) => px >= each.x && px < each.x + each.w && py >= each.y && py < each.y + each.tall,
  );
  if (!tile) return null;
  const { kind } = x.state;
  const map = x.trace.maps[kind];
  const row =
    x.state.tile === "row"
      ? x.trace.rowOf(kind, x.state)
      : Math.floor(((py - tile.y) / tile.tall) * map.rows);
  const column = Math.floor(((px - tile.x) / tile.w) * map.columns);
  return {
    ...tile,
    row: clamp(row, 0, map.rows - 1),
    column: clamp(column, 0, map.columns - 1),
  };
};

/** What is said of a cell. */
export const told = ({ state: { kind }, trace }: Needs, cell: Pointed): (Node | string)[] => {
  const weight = trace.head(kind, cell.l, cell.h)[
    cell.row * trace.maps[kind].columns + cell.column
  ];
  const usual = usually(trace, kind, cell.l, cell.h);
  const values = {
    head: `L${cell.l + 1} H${cell.h + 1}` + (usual ? `, ${usual.text}` : ""),
    reads: trace.queries(kind)[cell.row].s,
    key: trace.keys(kind)[cell.column].s,
    weight: trace.has(kind, cell.l, cell.h) ? weight.toFixed(3) : "…",
  };
  if (kind === "decoder" && cell.column > cell.row)
    return tParts("{head}: {key} lies in the future of this row", values);
  if (kind === "encoder") return tParts("{head}: {reads} looks at {key} {weight}", values);
  return tParts("{head}: reads {reads}, predicts {predicts}, looks at {key} {weight}", {
    ...values,
    predicts: trace.tgt[cell.row].s,
  });
};
