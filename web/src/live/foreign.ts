/* Text in another language than the source language: translator/ui/foreign.py. */

import { SPACE } from "./text/characters";
import { classify } from "./text/languages";

/** The language that a text seems to be in, and the direction that translates from it, or "". */
export interface Foreign {
  language?: string;
  switch?: string;
}

const SURE = 0.95;
const LEAST_WORDS = 2;
const PAIR = /^([a-z]{2,3})-([a-z]{2,3})$/;

/**
 * What the health strip says of a text that seems not to be in `language`; `names` are the page's
 * directions.
 */
export function foreign(names: readonly string[], language: string, text: string): Foreign {
  if (language === "und") return {};
  const pairs = names.flatMap((name) => {
    const [, source, target] = PAIR.exec(name) ?? [];
    return source && target ? [{ name, source, target }] : [];
  });
  const others = pairs.flatMap(({ source, target }) => [source, target]);
  const found = looksLike(text, language, others);
  if (!found) return {};
  return { language: found, switch: pairs.find(({ source }) => source === found)?.name ?? "" };
}

/** The language of `others` that a text seems to be in if it is not `language`, or "". */
export function looksLike(text: string, language: string, others: readonly string[]): string {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const han = text.match(/[\u4e00-\u9fff]/g)?.length ?? 0;
  if (han && han >= letters / 2) return language === "zh" || !others.includes("zh") ? "" : "zh";
  const words = text.match(new RegExp(`[^${SPACE}]+`, "gu"))?.length ?? 0;
  if (letters < 4 || words < LEAST_WORDS) return "";
  const [found, share] = classify(text, [language, ...others]);
  return found !== language && share >= SURE ? found : "";
}
