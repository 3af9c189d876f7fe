/* What the map takes of the explorer, and what of that it is drawn anew for. */

import type { ExplorerContext } from "../../state/context";

export type Needs = Pick<
  ExplorerContext,
  | "signal"
  | "enter"
  | "find"
  | "state"
  | "trace"
  | "version"
  | "changed"
  | "set"
  | "places"
  | "moved"
  | "picture"
  | "colours"
  | "rowIndex"
  | "headName"
  | "as"
  | "chooseRow"
  | "pinCell"
>;

/** What changes the map itself, not only what lies over it. */
export const HEAVY =
  "trace kind map scale palette labels unit specials theme language size view fit presenting".split(
    " ",
  );
