/* Words that stand in markup: `data-t` is a text, `data-aria` a name that is spoken. */

import { tText } from "./words";

/** Put the page's language on them. */
export const speakMarkup = (root: Element): void => {
  for (const node of root.querySelectorAll<HTMLElement>("[data-t]"))
    node.textContent = tText(node.dataset.t!);
  for (const node of root.querySelectorAll<HTMLElement>("[data-aria]"))
    node.setAttribute("aria-label", tText(node.dataset.aria!));
};
