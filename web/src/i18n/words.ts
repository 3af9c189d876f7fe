/* Words in three languages: the English sentence is the key; a table a language gives the
   others. */

import type de from "../../../assets/locales/de.json";
import type zh from "../../../assets/locales/zh.json";
import { bold } from "../dom/element";
import { pageLanguage, tables } from "./language";
import { thousands } from "./numerals";

/** An English sentence that every language has: any other is an error when the page is built. */
export type Sentence = keyof typeof zh & keyof typeof de;
/** What stands in the {holes} of a sentence. */
export type Values = Record<string, string | number>;

const table = (): Record<string, string> => tables()[pageLanguage()] || {};

/**
 * A sentence of the server's or of the markup in the page's language; one that no table has stays
 * English.
 */
export const tText = (english: string, values: Values = {}): string =>
  (table()[english] || english).replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );

/** A part of the model: the words of "decoder L3 cross H5", whose numbers stay. */
export const tPart = (name: string, say: (english: string) => string = tText): string =>
  name
    .split(/ (?=[LH]\d)|(?<=[LH]\d+) /)
    .map((each) => (/^[LH]\d+$/.test(each) ? each : say(each)))
    .join(" ");

/** A sentence of the page's own in its language. */
export const t: (english: Sentence, values?: Values) => string = tText;

/**
 * `tText` whose {holes} are bold elements: the sentence stays one, whatever the order of its words.
 */
export const tTextParts = (
  english: string,
  values: Record<string, string | Node>,
): (string | Node)[] =>
  (table()[english] || english)
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => {
      const name = part.slice(1, -1);
      if (part[0] !== "{" || !(name in values)) return part;
      const value = values[name];
      return value instanceof Node ? value : bold(value);
    });

/** A sentence of the page's own whose {holes} are bold elements. */
export const tParts: (
  english: Sentence,
  values: Record<string, string | Node>,
) => (string | Node)[] = tTextParts;

const LEAST = 12; // letters of a sentence beside its holes: fewer would fit too much

/** A sentence of the tables as a pattern whose groups are its holes. */
const pattern = (english: string): RegExp => {
  const parts = english.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp("^" + parts.join("(.+?)") + "$");
};

/**
 * A sentence from the server, matched against the tables' sentences with {holes}; an unknown one
 * stays English.
 */
export const tMessage = (text: string): string => {
  const known = table();
  if (known[text]) return known[text];
  for (const english of Object.keys(known)) {
    const names = [...english.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
    if (!names.length) continue;
    const match = pattern(english).exec(text);
    if (match && english.replace(/\{\w+\}/g, "").trim().length > LEAST)
      return tText(
        english,
        Object.fromEntries(names.map((name, i) => [name, thousands(match[i + 1])])),
      );
  }
  return text;
};
