/* The words of a text: spans in order that cover every character but white space.
   text/segment.py. */

import { classOf, HAN, SPACE } from "./characters";
import { chineseWords } from "./chinese";
import type { Span } from "./normalise";

const MARK =
  "\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u064b-\\u065f\\u0900-\\u0903\\u093a-\\u094f\\u20d0-\\u20ff";
const WORD = classOf("word");
const LETTERS = `[${WORD}][${WORD}${MARK}]*`;
// A word keeps its inner apostrophes and hyphens; a sign keeps what modifies it, and joined emoji
// stay whole.
const SIGN = `[^${WORD}${SPACE}][${MARK}\\ufe0e\\ufe0f\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}]*`;
const WORDS = new RegExp(
  `${LETTERS}(?:['’\\-\\u2011]${LETTERS})*|[\\u{1f1e6}-\\u{1f1ff}]{2}|${SIGN}(?:\\u200d${SIGN})*`,
  "gu",
);
const PARTS_OF_A_NUMBER = /^\p{Nd}[.,:/]\p{Nd}$/u;
const HAN_RUN = new RegExp(`[${HAN}]+`, "gu");

/** The words of `text`; runs of Chinese characters are cut into words where `language` is "zh". */
export function words(text: string, language: string): Span[] {
  if (language !== "zh") return alphabetic(text, 0);
  const spans: Span[] = [];
  let position = 0;
  for (const { 0: run, index } of text.matchAll(HAN_RUN)) {
    spans.push(...alphabetic(text.slice(position, index), position));
    position = index;
    for (const word of chineseWords(run)) {
      spans.push([position, position + word.length]);
      position += word.length;
    }
  }
  return [...spans, ...alphabetic(text.slice(position), position)];
}

/** `words`, but a number, a time or a date is one: "24,50", "18:30", "3/4/2025". */
export function wholeWords(text: string, language: string): Span[] {
  const spans: Span[] = [];
  for (const [start, end] of words(text, language)) {
    const begun = oneNumber(text, start - 1) || oneNumber(text, start) ? spans.pop() : undefined;
    spans.push([begun?.[0] ?? start, end]);
  }
  return spans;
}

/** Whether the character at `mark` stands within a number, between two digits. */
function oneNumber(text: string, mark: number): boolean {
  return PARTS_OF_A_NUMBER.test(text.slice(Math.max(mark - 1, 0), mark + 2));
}

function alphabetic(text: string, offset: number): Span[] {
  const spans: Span[] = [];
  // `matchAll` would copy the expression for each text: its source has 80,000 characters.
  WORDS.lastIndex = 0;
  for (let found = WORDS.exec(text); found; found = WORDS.exec(text))
    spans.push([offset + found.index, offset + WORDS.lastIndex]);
  return spans;
}
