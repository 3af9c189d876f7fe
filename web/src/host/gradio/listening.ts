/* What happens on the page around the explorer. */

import { comparisonInLink } from "../../state/compare-link";
import { readPermalink } from "../../state/permalink";

export const within = (event: Event, selector: string): Element | null =>
  (event.target as Element).closest(selector);

export interface Heard {
  /** Another direction was chosen. */
  turned(): void;
  /** A person typed into the sentence's field. */
  typed(): void;
  /** Before anything else hears of it. */
  clicked(event: MouseEvent): void;
  /** The page is about to go. */
  left(): void;
  /** The page's language is another. */
  spoken(): void;
  /** A link was put into the address of the open page. */
  readdressed(): void;
}

export const listenToPage = (heard: Heard): void => {
  document.addEventListener("change", (event) => {
    if (within(event, "#direction")) heard.turned();
  });
  document.addEventListener("input", (event) => {
    if (event.isTrusted && within(event, "#source-text")) heard.typed();
  });
  document.addEventListener("click", (event) => heard.clicked(event), true);
  addEventListener("pagehide", () => heard.left());
  addEventListener("explorer-language", () => heard.spoken());
  addEventListener("hashchange", () => {
    if (readPermalink(location.hash) || comparisonInLink()) heard.readdressed();
  });
};
