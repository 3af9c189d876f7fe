/* Typed text in the shape of the training corpora, with the place that every character came from:
   text/normalise.py. */

import { belongs, HAN, INVISIBLE, SPACE } from "./characters";
import { simplified } from "./chinese";

/** What a tokenizer's file says of how its text is made into tokens. */
export interface TextConfig {
  language: string;
  level: "subword" | "word" | "char" | "sentencepiece" | "treebank" | "bare";
  normalise: "corpus" | "none";
  prefix_space: boolean;
  lowercase: boolean;
}

/** Where something stands in a text, in UTF-16 units: from `start` up to `end`. */
export type Span = readonly [start: number, end: number];

/** Normalised text; `spans[i]` is where its UTF-16 unit i stood in what was typed. */
export interface Normalised {
  text: string;
  spans: Span[];
}

type Edit = readonly [start: number, end: number, made: string];
type Stage = (text: string) => Edit[];

const BLANK = new RegExp(`^[${SPACE}\\u200d\\ufe00-\\ufe0f\\u3164\\uffa0${INVISIBLE}]*$`, "u");

/** Whether nothing in `text` can be seen. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/** `text` as `config` says; doing it twice changes nothing more. */
export function normalise(text: string, config: TextConfig): Normalised {
  let spans: Span[] = [];
  for (let at = 0; at < text.length;) {
    const size = text.codePointAt(at)! > 0xffff ? 2 : 1;
    for (let unit = 0; unit < size; unit++) spans.push([at, at + size]);
    at += size;
  }
  for (const stage of stages(config)) {
    const edits = stage(text);
    if (!edits.length) continue;
    spans = moved(text, spans, edits);
    text = applied(text, edits);
  }
  return { text, spans };
}

/** The text of `normalise` alone. */
export function normaliseText(text: string, config: TextConfig): string {
  for (const stage of stages(config)) text = applied(text, stage(text));
  return text;
}

function applied(text: string, edits: readonly Edit[]): string {
  let [out, position] = ["", 0];
  for (const [start, end, made] of edits) {
    out += text.slice(position, start) + made;
    position = end;
  }
  return out + text.slice(position);
}

/** As many characters as before keep their places, otherwise all new ones share the whole. */
function moved(text: string, spans: readonly Span[], edits: readonly Edit[]): Span[] {
  const out: Span[] = [];
  let position = 0;
  for (const [start, end, made] of edits) {
    out.push(...spans.slice(position, start));
    const [old, fresh] = [[...text.slice(start, end)], [...made]];
    const whole: Span = [spans[start]![0], spans[end - 1]![1]];
    let at = start;
    fresh.forEach((char, i) => {
      const span = old.length === fresh.length ? spans[at]! : whole;
      for (let unit = 0; unit < char.length; unit++) out.push(span);
      at += old[i]?.length ?? 0;
    });
    position = end;
  }
  return [...out, ...spans.slice(position)];
}

function substitute(pattern: RegExp, made: (match: string) => string): Stage {
  return (text) =>
    [...text.matchAll(pattern)].map((match) => [
      match.index,
      match.index + match[0].length,
      made(match[0]),
    ]);
}

function translate(table: Record<string, string>): Stage {
  const chars = Object.keys(table).map((char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
  return substitute(new RegExp(`[${chars.join("")}]`, "gu"), (char) => table[char]!);
}

function each(chars: string, made: string): Record<string, string> {
  return Object.fromEntries([...chars].map((char) => [char, made]));
}

const continues = belongs("continues");
const unassigned = belongs("unassigned");

/**
 * NFC, in chunks that no composition can cross; what Python's Unicode does not know is left alone.
 */
function compose(text: string): Edit[] {
  const edits: Edit[] = [];
  let start = 0;
  const close = (end: number) => {
    const chunk = text.slice(start, end);
    const known = unassigned(chunk) ? String.fromCodePoint(chunk.codePointAt(0)!).length : 0;
    const made = chunk.slice(0, known) + chunk.slice(known).normalize("NFC");
    if (made !== chunk) edits.push([start, end, made]);
    start = end;
  };
  for (let at = 0; at < text.length;) {
    const char = String.fromCodePoint(text.codePointAt(at)!);
    if (at > start && !continues(char)) close(at);
    at += char.length;
  }
  if (text) close(text.length);
  return edits;
}

const SPACES = new RegExp(`[${SPACE}]+`, "gu");

function singleSpaces(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: found, index: start } of text.matchAll(SPACES)) {
    const end = start + found.length;
    const made = start === 0 || end === text.length ? "" : " ";
    if (found !== made) edits.push([start, end, made]);
  }
  return edits;
}

function lower(text: string): Edit[] {
  return substitute(/./gsu, (char) => char.toLowerCase())(text).filter(
    ([start, end, made]) => text.slice(start, end) !== made,
  );
}

const CAPITAL = /\p{Uppercase}/gu;
const SMALL = /\p{Lowercase}|\p{Lt}/u;
/** So many capitals and no small letter are a text that somebody typed in capitals. */
const SHOUTED = 5;

/** Whether `text` was typed all in capitals. */
export function isShouted(text: string): boolean {
  return !SMALL.test(text) && (text.match(CAPITAL)?.length ?? 0) >= SHOUTED;
}

/** A text all in capitals to small letters: no vocabulary has its words. */
function calm(text: string): Edit[] {
  return isShouted(text) ? lower(text) : [];
}

const surrogates = substitute(/[\ud800-\udfff]/gu, () => "\ufffd");
const hide = substitute(new RegExp(`[${INVISIBLE}]`, "gu"), () => "");
const plain = translate({
  ...each("“”„‟«»", '"'),
  ...each("‘’‚‛‹›", "'"),
  ...each("‐‑‒–—―−", "-"),
  "…": "...",
});
const narrow = substitute(/[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/gu, (char) =>
  String.fromCharCode(char.charCodeAt(0) - 0xfee0),
);
const brackets = translate({ "「": "“", "」": "”", "『": "‘", "』": "’", "｢": "“", "｣": "”" });
const CHINESE =
  HAN +
  "\\u3001-\\u3003\\u3008-\\u3011\\u3014-\\u301b\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65“”‘’";
const tight = substitute(new RegExp(` (?=[${CHINESE}])|(?<=[${CHINESE}]) `, "gu"), () => "");
const ellipsis = substitute(
  new RegExp(`(?<=[${HAN}])\\.{3,}|\\.{3,}(?=[${HAN}])`, "gu"),
  () => "……",
);
const WIDE: Record<string, string> = {
  ",": "，",
  "?": "？",
  "!": "！",
  ";": "；",
  ":": "：",
  ".": "。",
};
const BESIDE_HAN = new RegExp(
  `(?<=[${HAN}])(?<after>[,?!;:.]+)|(?<![,?!;:.])[,?!;:.]+(?=[${HAN}])`,
  "gu",
);

/**
 * ASCII punctuation beside Chinese to full width; a point only if it ends Chinese: not in "1.",
 * "J.", ".local".
 */
function widen(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const match of text.matchAll(BESIDE_HAN)) {
    const run = match[0];
    const end = match.index + run.length;
    let made: string;
    if (match.groups!.after === undefined)
      made = [...run].map((char) => (char === "." ? char : WIDE[char])).join("");
    else {
      const ends = /[0-9A-Za-z]/.test(text.slice(end, end + 1)) ? run.replace(/\.+$/, "") : run;
      made = [...ends].map((char) => WIDE[char]).join("") + run.slice(ends.length);
    }
    if (made !== run) edits.push([match.index, end, made]);
  }
  return edits;
}

/** Traditional to simplified characters. */
function simplify(text: string): Edit[] {
  const made = simplified(text);
  return made === text ? [] : differences(text, made);
}

/**
 * Where two texts differ: character by character where they are as long, or else all between their
 * alike ends.
 */
function differences(text: string, made: string): Edit[] {
  const [old, fresh] = [[...text], [...made]];
  if (old.length === fresh.length) {
    const edits: Edit[] = [];
    let at = 0;
    old.forEach((char, i) => {
      if (char !== fresh[i]) edits.push([at, at + char.length, fresh[i]!]);
      at += char.length;
    });
    return edits;
  }
  let [low, high] = [0, 0];
  while (low < old.length - 1 && old[low] === fresh[low]) low++;
  while (high < old.length - low - 1 && old.at(-1 - high) === fresh.at(-1 - high)) high++;
  const [start, end] = [
    old.slice(0, low).join("").length,
    text.length - old.slice(old.length - high).join("").length,
  ];
  return [[start, end, fresh.slice(low, fresh.length - high).join("")]];
}

function stages(config: TextConfig): Stage[] {
  const lowered = config.lowercase ? [lower] : [];
  if (config.normalise === "none") return [surrogates, ...lowered];
  const chinese = config.language === "zh";
  if (!chinese && !config.lowercase) lowered.push(calm);
  // What may bring a letter and a combining mark together comes before they are composed.
  const first = [surrogates, hide, ...(chinese ? [narrow] : []), ...lowered, compose, singleSpaces];
  if (chinese) return [...first, brackets, tight, ellipsis, widen, tight, simplify];
  return config.language === "en" || config.language === "de" ? [...first, plain] : first;
}
