/* What is seen, said on the explorer's element: for the host's styles, for tests and for
   measurements. */

import type { View } from "../../state/view";
import type { Translation } from "../../trace/translation";

const NAMES = [
  ..."kind layer head step query view unit scale palette specials".split(" "),
  ..."labels aggregate overlay".split(" "),
] as (keyof View)[];

/** `data-shown`: the translation and what is chosen of it, as JSON. Indices count from 0. */
export const tellShown = (root: HTMLElement, trace: Translation, state: View): void => {
  const { source, translation, direction, live } = trace;
  const chosen = Object.fromEntries(NAMES.map((name) => [name, state[name]]));
  const sizes = { columns: trace.src.length, rows: trace.tgt.length };
  root.dataset.shown = JSON.stringify({
    source,
    translation,
    direction,
    live,
    ...sizes,
    ...chosen,
  });
};
