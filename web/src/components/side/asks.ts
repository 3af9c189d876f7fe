/* A question mark that asks the lab about what it stands beside. */

import { el } from "../../dom/element";

export const asks = (label: string, ask: () => void): HTMLButtonElement =>
  el("button", {
    type: "button",
    class: "ask",
    text: "?",
    title: label,
    "aria-label": label,
    on: { click: ask },
  });
