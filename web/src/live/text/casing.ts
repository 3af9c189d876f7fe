/* Capitals for what was typed without: each word as the training corpora write it within sentences.
   text/casing.py. */

import { isShouted } from "./normalise";
import { SubwordTokenizer } from "./subword";
import type { Tokenizer } from "./tokenizer";

/** What `translator.ui.live.casing` writes of a language: words with capitals, in lines. */
export interface CasingFile {
  language: string;
  words: string;
}

// Latin letters alone: Python, whose Unicode may be older, finds the same words.
const WORD = /[A-Za-z\u00c0-\u024f]+/g;
const END = /^[.!?…][^]*[ \t\n\u00a0]/;
const ABBREVIATED = 2; // letters at most before the point of "z. B." or "ca."
const APOSTROPHES = ["'", "’"];

const known = new Map<string, ReadonlyMap<string, string>>();

/** Let a language's words have their capitals from now on. */
export function useCasing({ language, words }: CasingFile): void {
  known.set(language, new Map(words.split("\n").map((word) => [word.toLowerCase(), word])));
}

/**
 * `text` with the capitals of a language's words, unless it has capitals within its sentences and
 * small letters too. Every character stays in its place.
 */
export function restored(text: string, language: string): string {
  const written = known.get(language);
  if (!written) return text;
  const small = isShouted(text) ? smallOf(text) : text;
  const found = [...small.matchAll(WORD)].map(({ 0: word, index }, i, all) => {
    const before = all[i - 1];
    const end = before ? before.index + before[0].length : 0;
    return { word, gap: small.slice(end, index), before: before?.[0] };
  });
  if (found.some(isMeant)) return text;
  const none = found.every(({ word }) => isSmall(word));
  let [out, at] = ["", 0];
  for (const { word, gap, before } of found) {
    const half = before !== undefined && APOSTROPHES.includes(gap);
    const made = half ? word : (written.get(word.toLowerCase()) ?? word);
    out += gap + (none && made === word && begins(gap, before) ? raised(word) : made);
    at += gap.length + word.length;
  }
  return out + small.slice(at);
}

interface Found {
  word: string;
  /** What stands between it and the word before, if there is one. */
  gap: string;
  before: string | undefined;
}

const isSmall = (word: string): boolean => word === word.toLowerCase();

/** Whether a word has a capital that nobody's keyboard sets by itself. */
function isMeant({ word, gap, before }: Found): boolean {
  const opens = before === undefined || !/^[ ,]*$/.test(gap);
  return !isSmall(opens ? word.slice(1) : word);
}

/** Whether a sentence begins behind `gap`; a point after few letters is an abbreviation's. */
function begins(gap: string, before: string | undefined): boolean {
  if (before === undefined) return !/[0-9]/.test(gap);
  return before.length > ABBREVIATED && END.test(gap);
}

function smallOf(text: string): string {
  return Array.from(text, (char) => {
    const low = char.toLowerCase();
    return low.length === char.length ? low : char;
  }).join("");
}

function raised(word: string): string {
  const high = word[0]!.toUpperCase();
  return high.length === 1 ? high + word.slice(1) : word;
}

/**
 * `tokenizer` as a source's: one that was made of normalised text with capitals gives them back to
 * what is typed.
 */
export function withCasing(tokenizer: Tokenizer): Tokenizer {
  const { normalise, lowercase, language } = tokenizer.config;
  if (tokenizer instanceof SubwordTokenizer && normalise === "corpus" && !lowercase)
    tokenizer.typed = (text) => restored(text, language);
  return tokenizer;
}
