/* The controls of a comparison show what is chosen. */

import { el } from "../../dom/element";
import type { ComparedView } from "../../state/compare-link";

/** What both sides have of a kind. */
export interface Shared {
  layers: number;
  heads: number;
}

export const showChosen = (root: Element, state: ComparedView, { layers, heads }: Shared): void => {
  for (const name of ["kind", "unit"] as const)
    root
      .querySelectorAll<HTMLElement>(`button[data-${name}]`)
      .forEach((button) =>
        button.setAttribute("aria-pressed", String(button.dataset[name] === state[name])),
      );
  const counts = { layer: layers, head: heads };
  for (const name of ["layer", "head"] as const) {
    const select = root.querySelector<HTMLSelectElement>(`select.${name}`)!;
    const options = Array.from({ length: counts[name] }, (_, i) =>
      el("option", { value: i, text: i + 1 }),
    );
    select.replaceChildren(...options);
    select.value = String(state[name]);
  }
};
