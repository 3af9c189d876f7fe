/* The maps that a comparison shows, which translations in a notebook may lack. */

import type { Place } from "../../protocol/messages";
import type { ComparedView } from "../../state/compare-link";
import type { Translation } from "../../trace/translation";
import type { ComparisonOptions } from "./options";
import { SIDES, type Side } from "./said";

/** Fetch what the view needs and a side lacks; null: it is there. */
export const bringMaps = (
  traces: Record<Side, Translation> | null,
  maps: ComparisonOptions["maps"],
  { kind, layer, head }: ComparedView,
): Promise<unknown> | null => {
  const lacking = SIDES.filter((side) => traces && !traces[side].has(kind, layer, head));
  if (!lacking.length || !maps) return null;
  const place: Place = [layer, head];
  const coming = lacking.map((side) =>
    maps(side, kind, [place]).then((sent) => traces![side].put(kind, [place], sent)),
  );
  return Promise.all(coming);
};
