/* How the lesson's words and code are set. */

import { bold, el } from "../../dom/element";
import type { Excerpt } from "../../protocol/lesson";

export type Say = (english: string, values?: Record<string, string | number>) => string;

/** Words with d_model and d_head written as formulas write them. */
export const worded = (text: string): (Node | string)[] =>
  text.split(/_(model|head)/).map((part, i) => (i % 2 ? el("sub", { text: part }) : part));

const KEYWORDS = new Set(
  "def return if else for in while not and or is None True False lambda yield raise".split(" "),
);
const PARTS =
  /(#.*$|"(?:[^"\\\n]|\\.)*"|\b(?:def|return|if|else|for|in|while|not|and|or|is|None|True|False|lambda|yield|raise)\b)/m;

const coloured = (text: string): (Node | string)[] =>
  text
    .split(PARTS)
    .filter(Boolean)
    .map((part) => {
      if (part[0] === "#") return el("i", { text: part });
      return KEYWORDS.has(part) ? el("b", { text: part }) : part;
    });

/**
 * A line that is too long goes on below, indented further than it began; copied, it is the source
 * again.
 */
const sourceLine = (line: string, n: number, lines: string[]): HTMLElement =>
  el(
    "span",
    { style: `--indent:${line.search(/\S|$/)}` },
    ...coloured(line + (n < lines.length - 1 ? "\n" : "")),
  );

export const excerpt = ({ name, path, line, code }: Excerpt, say: Say): HTMLElement =>
  el(
    "figure",
    {},
    el(
      "figcaption",
      {},
      bold(name),
      el("span", { text: `${path}, ${say("line {n}", { n: line })}` }),
    ),
    el("pre", { tabindex: 0 }, el("code", {}, ...code.split("\n").map(sourceLine))),
  );
