/* The heads in the order of their tiles. */

import { phone } from "../../dom/screen";
import { t } from "../../i18n/words";
import type { Place } from "../../protocol/messages";
import type { ExplorerContext } from "../../state/context";
import type { View } from "../../state/view";

/** What the tiles may be sorted by. */
export const sorts = (): [value: View["sort"], name: string][] => [
  ["layer", t("layer")],
  ["entropy", t("entropy")],
  ["confidence", t("largest weight")],
  ["distance", t("distance")],
  ["special", t("on specials")],
  ["punctuation", t("on punctuation")],
];

/** The heads in the order of their tiles: all of them, or on a phone those of one layer. */
export const placesOf = (
  { state, trace }: Pick<ExplorerContext, "state" | "trace">,
  small: boolean,
): Place[] => {
  const { kind, layer, sort } = state;
  const { layers, heads } = trace.maps[kind];
  const places: Place[] = [];
  for (let l = 0; l < layers; l++)
    for (let h = 0; h < heads; h++)
      if (!small || sort !== "layer" || l === layer) places.push([l, h]);
  if (sort === "layer" || !trace.heads) return places;
  const values = trace.heads[kind][sort];
  const way = sort === "confidence" ? -1 : 1;
  return places.sort(([l, h], [m, g]) => way * (values[l * heads + h] - values[m * heads + g]));
};

/** Whether the tiles stand by layer and head, so that their place says which they are. */
export const inGrid = ({ state }: Pick<ExplorerContext, "state">): boolean =>
  state.sort === "layer" && !phone();
