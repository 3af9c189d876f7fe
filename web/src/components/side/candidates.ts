/* What the model weighed up. Its lines stay while a replay goes from step to step; only what they
   say changes. */

import { el, label, write } from "../../dom/element";
import { clamp, two } from "../../format/number";
import { cut } from "../../format/text";
import { t } from "../../i18n/words";
import { SPECIAL } from "../../protocol/flags";
import type { Weighed } from "../../trace/candidates";
import { asks } from "./asks";

/** What can be done with a candidate; null: the page cannot. */
export interface Asked {
  /** Ask why it is said, or not said. */
  why: ((word: string, chosen: boolean) => void) | null;
  /** Translate on from it. */
  resume: ((id: number, word: string) => void) | null;
}

interface Line {
  node: HTMLElement;
  show(weighed: Weighed, asked: Asked): void;
}

/** What is said of the word where it is pointed at. */
const told = ({ s, unlikelier }: Weighed, other: boolean): string => {
  if (other) return t("Translate on from {word}", { word: s });
  const why = t(
    "A likelier token was passed over: a beam keeps the best whole translation, and numbers and names have to be the source’s.",
  );
  return unlikelier ? `${s}\n${why}` : s;
};

/** The word itself: one that was not taken can be pressed. */
const makeWord = () => {
  let pressed = () => {};
  const said = el("span");
  const taken = el("button", { type: "button", on: { click: () => pressed() } });
  const show = (weighed: Weighed, resume: Asked["resume"]): HTMLElement => {
    const { s, i, f, chosen } = weighed;
    const other = resume && i !== undefined && !chosen;
    const node = other ? taken : said;
    if (other) pressed = () => resume(i, s);
    node.className = "t" + (f & SPECIAL ? " sp" : "");
    node.title = told(weighed, !!other);
    write(node, cut(s));
    return node;
  };
  return { node: said, show };
};

const makeLine = (): Line => {
  let ask = () => {};
  const word = makeWord();
  const bar = el("span", { class: "bar1" });
  const share = el("span", { class: "p" });
  const question = asks("", () => ask());
  const node = el("li", {}, word.node, bar, share);
  return {
    node,
    show: (weighed, { why, resume }) => {
      const { s, p, rest } = weighed;
      const chosen = !!weighed.chosen;
      const said = word.show(weighed, resume);
      if (node.firstChild !== said) node.firstChild!.replaceWith(said);
      node.className = chosen ? "pickd" : rest ? "rest" : "";
      bar.style.setProperty("--w", 100 * clamp(p, 0, 1) + "%");
      write(share, two(p));
      if (!why || rest) return question.remove();
      label(
        question,
        chosen ? t("Why this word and not another?") : t("Why not {word}?", { word: s }),
      );
      ask = () => why(s, chosen);
      if (!question.parentNode) node.append(question);
    },
  };
};

/** Fills `list`. */
export const makeCandidates = (list: HTMLElement) => {
  const lines: Line[] = [];
  return {
    show: (weighed: Weighed[], asked: Asked): void => {
      while (lines.length < weighed.length) lines.push(makeLine());
      weighed.forEach((each, n) => lines[n].show(each, asked));
      if (list.children.length !== weighed.length)
        list.replaceChildren(...lines.slice(0, weighed.length).map(({ node }) => node));
    },
  };
};
