/* What a comparison is given, and what it tells. */

import type { Scene } from "../../dom/scene";
import type { ComparedView } from "../../state/compare-link";

/** What is chosen, as it is told to whom mounted the comparison. */
export type ComparisonPick = Readonly<Pick<ComparedView, "kind" | "layer" | "head" | "step">>;

export interface ComparisonOptions {
  /** Whose theme and language hold in it; the page's, if nobody says. */
  scene?: Scene;
  /** Told after each choice. */
  onPick?: (pick: ComparisonPick) => void;
}
