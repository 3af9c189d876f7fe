/* What an explorer may be given, and what it tells. */

import type { Scene } from "../../dom/scene";
import type { Kind } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import type { View } from "../../state/view";

/** What is chosen, as it is told to whom mounted the explorer. Indices count from 0. */
export type Pick = Readonly<{
  kind: Kind;
  layer: number;
  head: number;
  step: number;
  query: number;
  /** The tokens of the cell that was clicked last: its row and its column. */
  cell: View["cell"];
}>;

export interface ExplorerOptions {
  /** What gives exact arrays and the offline page. */
  server?: ExplorerServer | null;
  /** Whose theme and language hold in it; the page's, if nobody says. */
  scene?: Scene;
  /** Told after each choice that changes what is picked. */
  onPick?: (pick: Pick) => void;
}

/** What a choice may change that is told. */
export const PICKED: (keyof Pick)[] = ["kind", "layer", "head", "step", "query", "cell"];
