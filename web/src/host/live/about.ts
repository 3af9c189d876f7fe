/* What a live page says of itself. */

import { el } from "../../dom/element";
import { type Sentence, t } from "../../i18n/words";
import { site } from "./site";

const SAYS: readonly Sentence[] = [
  "This page translates on your own machine. Nothing that you type leaves it, and once visited it works without a network.",
  "The model is an encoder-decoder Transformer in WebAssembly; its numbers are those of the Python package within 0.00001.",
  "Sampling with the same seed gives a different text here than in Python, since browsers draw other random numbers.",
  "More views of the lab and the lesson are on the page with a server: python -m translator serve.",
];

/** Fill the tab, in the page's language. */
export const mountAbout = (element: HTMLElement): void => {
  element.setAttribute("translate", "no"); // it speaks by itself
  const paint = () => {
    const cards = site().offers.map(({ direction, label }) =>
      el(
        "li",
        {},
        el("a", {
          href: `checkpoints/${direction}/README.md`,
          text: t("Model card and licence of {name}", { name: label }),
        }),
      ),
    );
    element.replaceChildren(
      ...SAYS.map((text) => el("p", { text: t(text) })),
      el("ul", {}, ...cards),
      el("h2", { text: t("How to cite") }),
      el("pre", { text: site().citation }),
    );
  };
  addEventListener("explorer-language", paint);
  paint();
};
