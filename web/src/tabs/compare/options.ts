/* What a comparison is given, and what it tells. */

import type { Scene } from "../../dom/scene";
import type { Kind, Place } from "../../protocol/messages";
import type { ComparedView } from "../../state/compare-link";
import type { Unit } from "../../trace/picture";
import type { Side } from "./said";

/** What is chosen, as it is told to whom mounted the comparison. */
export type ComparisonPick = Readonly<Pick<ComparedView, "kind" | "layer" | "head" | "step">>;

export interface ComparisonOptions {
  /** Whose theme and language hold in it; the page's, if nobody says. */
  scene?: Scene;
  /** Told after each choice. */
  onPick?: (pick: ComparisonPick) => void;
  /**
   * Of translations that have parts: the maps of some heads of one side, as `ExplorerServer` gives
   * them.
   */
  maps?: (side: Side, kind: Kind, places: readonly Place[]) => Promise<Uint8Array>;
  /**
   * How far the heads of both are apart, layer by layer, where whoever sent them has counted; null:
   * their shapes differ.
   */
  distances?: Distances;
}
export type Distances = Record<Kind, Record<Unit, number[] | null>>;
