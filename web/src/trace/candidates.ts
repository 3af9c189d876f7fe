/* What the model weighed up at a step. */

import { t } from "../i18n/words";
import type { Translation } from "./translation";

/** A token with its probability; `rest` stands for all the others. */
export interface Weighed {
  s: string;
  /** Its id; "rest" has none. */
  i?: number;
  p: number;
  f: number;
  r?: string;
  chosen?: boolean;
  /** Chosen although another was likelier: by a rule or by a beam, not drawn. */
  unlikelier?: boolean;
  rest?: boolean;
}

/** The likeliest tokens of a step and what is left for all others, which stands last. */
export const candidatesOf = (trace: Translation, step: number, room: number): Weighed[] => {
  const { c, lp } = trace.steps[step];
  const chosen = trace.tgt[step];
  const items: Weighed[] = c
    .slice(0, room)
    .map((each) => ({ ...each, p: Math.exp(each.lp), chosen: each.i === chosen.i }));
  if (!items.some((each) => each.chosen))
    items.splice(room - 1, 1, {
      s: chosen.s,
      i: chosen.i,
      p: Math.exp(lp),
      f: chosen.f,
      chosen: true,
    });
  // what is still being written has no settings yet
  const known = !trace.live && step >= trace.prefix.length;
  if (known && trace.settings.method !== "sample" && !items[0].chosen)
    items.find((each) => each.chosen)!.unlikelier = true;
  return [
    ...items,
    {
      s: t("all others"),
      p: Math.max(0, 1 - items.reduce((sum, each) => sum + each.p, 0)),
      f: 0,
      rest: true,
    },
  ];
};
