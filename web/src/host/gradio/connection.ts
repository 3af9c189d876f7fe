/* What Gradio says of a lost connection, in the page's language; it loads the page again once the
   server answers. */

import { type Sentence, t } from "../../i18n/words";

const SAYS: Record<string, Sentence> = {
  Error: "No connection",
  "Connection to the server was lost. Attempting reconnection...":
    "The server does not answer. The page goes on by itself once it does; what was typed is kept.",
};

const translate = (toasts: Element): void => {
  const letters = document.createTreeWalker(toasts, NodeFilter.SHOW_TEXT);
  while (letters.nextNode()) {
    const node = letters.currentNode as Text;
    const says = SAYS[node.data.trim()];
    if (says) node.data = t(says);
  }
  for (const button of toasts.querySelectorAll("[aria-label=Close]"))
    button.setAttribute("aria-label", t("Close"));
};

/** Watch the place of Gradio's toasts, of which this page makes none itself. */
export const translateToasts = (): void => {
  const toasts = document.querySelector(".toast-wrap");
  if (!toasts) return;
  new MutationObserver(() => translate(toasts)).observe(toasts, { childList: true, subtree: true });
};
