/* What a key means on a map. */

import { clamp } from "../../format/number";
import type { Cell } from "../../state/view";
import type { Picture } from "../../trace/picture";

const MOVES: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** By how much a range becomes wider. */
const MAGNIFY: Record<string, number> = { "+": 0.6, "-": 1 / 0.6 };

/** A neighbour of a cell by an arrow key, or null. */
const neighbour = (key: string, { i, j }: Cell, { rows, columns }: Picture): Cell | null => {
  const move = MOVES[key];
  if (!move) return null;
  return {
    i: clamp(i + move[0], 0, rows.length - 1),
    j: clamp(j + move[1], 0, columns.length - 1),
  };
};

export interface KeysProps {
  /** The cell that a key begins at. */
  at: () => Cell;
  picture: () => Picture;
  go: (cell: Cell) => void;
  choose: (cell: Cell) => void;
  pin: (cell: Cell) => void;
  magnify: (cell: Cell, factor: number) => void;
  /** Back from a zoom and from a cell; false: there is neither. */
  escape: () => boolean;
}

/** Do what a key says; false: nothing. */
export const pressed = (key: string, props: KeysProps): boolean => {
  const cell = props.at();
  const next = neighbour(key, cell, props.picture());
  if (next) props.go(next);
  else if (key === "Enter") props.choose(cell);
  else if (key === "p" || key === "P") props.pin(cell);
  else if (key in MAGNIFY) props.magnify(cell, MAGNIFY[key]);
  else return key === "Escape" && props.escape();
  return true;
};
