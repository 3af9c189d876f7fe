/* The strongest links of a row. Their lines stay while a replay goes from step to step; only what
   they say changes. */

import { type Colour, rgb } from "../../design/colour";
import { el, label } from "../../dom/element";
import { clamp, two } from "../../format/number";
import { cut } from "../../format/text";
import { t } from "../../i18n/words";
import type { Link } from "../../trace/picture";
import { asks } from "./asks";

/** Asks the lab about the link to a column; null: the page has none. */
export type AskLink = ((column: number) => void) | null;

interface Line {
  node: HTMLElement;
  show(link: Link, colours: Colour[], ask: AskLink): void;
}

const makeLine = (): Line => {
  let asked = () => {};
  const swatch = el("span", { class: "sw" });
  const name = document.createTextNode("");
  const position = document.createTextNode("");
  const weight = document.createTextNode("");
  const button = asks("", () => asked());
  const last = el("td", {}, button);
  const node = el(
    "tr",
    {},
    el("td", {}, swatch),
    el("th", { scope: "row" }, name, el("small", {}, position)),
    el("td", {}, weight),
  );
  return {
    node,
    show: (link, colours, ask) => {
      swatch.style.background = rgb(colours[Math.round(256 * clamp(link.weight, 0, 1))]);
      name.data = cut(link.text);
      position.data = link.position;
      weight.data = two(link.weight);
      if (!ask) return last.remove();
      label(button, t("Ask the lab: why does this head look here?"));
      if (!last.parentNode) node.append(last);
      asked = () => ask(link.j);
    },
  };
};

/** Fills `body`, the body of a table. */
export const makeLinks = (body: HTMLElement) => {
  const lines: Line[] = [];
  return {
    show: (links: Link[], colours: Colour[], ask: AskLink): void => {
      while (lines.length < links.length) lines.push(makeLine());
      links.forEach((link, i) => lines[i].show(link, colours, ask));
      const wanted = lines.slice(0, links.length).map(({ node }) => node);
      if (body.children.length !== wanted.length) body.replaceChildren(...wanted);
    },
  };
};
