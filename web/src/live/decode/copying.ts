/* Numbers and Latin names of a translation are those of its source: what a search must not write.
   decode/copying.py, in the same order. */

import type { Names } from "./names";
import { SEPARATORS, inDigits } from "./numbers";

/** Digits or letters from which a run is judged. */
const LONG = 2;
/** Words of two letters that a language of another script writes in Latin ones. */
const UNITS = "cm dl gb hz kb kg km kw mb mg ml mm mw".split(" ");
/** Languages that write in other letters than German and English do. */
const OTHER_SCRIPTS = "ar bg el fa he hi ja ko ru th uk zh".split(" ");

const INSIDE = `${SEPARATORS}:`;
const RUN = /[0-9]+|[A-Za-z]+/g;
const TAIL = new RegExp(`(?<![0-9])(?:[0-9]+[${INSIDE}])*[0-9]*$|(?<![A-Za-z])[A-Za-z]+$`);
const NAME = /[A-Za-z]+(?:[-'’][A-Za-z]+)*/g;
const STOP = "\n";
const WITHIN = new RegExp(`(?<=[0-9])[${INSIDE}]$`);

/** What each token of a target vocabulary adds to a text, sorted by what the rules look at. */
export class Spelling {
  readonly texts: readonly string[];
  /** Tokens that go on with a number or with a Latin word, and those that hold a long one. */
  readonly digits: ReadonlySet<number>;
  readonly letters: ReadonlySet<number>;
  readonly longNumbers: ReadonlySet<number>;
  readonly longWords: ReadonlySet<number>;
  private readonly byText = new Map<string, number[]>();
  private readonly parts: ReadonlySet<number>;
  private readonly ends: ReadonlySet<number>;

  /** `texts` of every id, as `spelling` gives them. */
  constructor(texts: readonly string[]) {
    this.texts = texts.map(narrow);
    this.texts.forEach((text, id) => {
      const same = this.byText.get(text);
      if (same) same.push(id);
      else this.byText.set(text, [id]);
    });
    const part = `[0-9A-Za-z${INSIDE}]`;
    this.parts = this.found(`(?!${part})[\\s\\S]|^$`);
    this.ends = this.found(`(?!${part})[\\s\\S]$|^$`);
    this.longNumbers = this.found(`[0-9]{${LONG}}`);
    this.longWords = this.found(`[A-Za-z]{${LONG}}`);
    this.digits = this.found(`^[0-9${INSIDE}]`);
    this.letters = this.found("^[A-Za-z]");
  }

  private found(pattern: string): Set<number> {
    const compiled = new RegExp(pattern);
    return new Set(this.texts.flatMap((text, id) => (compiled.test(text) ? [id] : [])));
  }

  /** The ids that add `text`. */
  ids(text: string): readonly number[] {
    return this.byText.get(text) ?? [];
  }

  /** The number or the Latin word that `ids` end in, which the next token may go on with; or "". */
  tail(ids: readonly number[]): string {
    if (!ids.length || this.ends.has(ids.at(-1)!)) return ""; // most tokens
    let text = "";
    for (let at = ids.length - 1; at >= 0; at--) {
      text = this.texts[ids[at]!]! + text;
      if (this.parts.has(ids[at]!)) break;
    }
    return tailOf(text);
  }
}

/** What the translation of one source may write of digits and of Latin letters. */
export class SourceSpans {
  private readonly words: ReadonlySet<string> | null;
  private readonly begun: ReadonlySet<string>;
  private readonly alone: readonly number[];
  private readonly known = new Map<string, readonly number[]>();

  /**
   * Of `numbers` and `words` each is null where nothing is asked of it; `names` are those that a
   * beam search prefers to copy, where it does.
   */
  constructor(
    private readonly spelling: Spelling,
    private readonly numbers: ReadonlySet<string> | null,
    words: readonly string[] | null,
    readonly names: Names | null = null,
  ) {
    this.words = words && new Set([...UNITS, ...words.map((word) => word.toLowerCase())]);
    this.begun = new Set([...(this.numbers ?? []), ...(this.words ?? [])].flatMap(beginnings));
    const judged = new Set([...spelling.longNumbers, ...(words ? spelling.longWords : [])]);
    this.alone = [...judged]
      .filter((id) => !this.allows("", spelling.texts[id]!))
      .sort((a, b) => a - b);
    this.known.set("", this.alone);
  }

  /** The ids that must not follow `ids`, ascending; none where every other way on is closed. */
  forbidden(ids: readonly number[]): readonly number[] {
    let tail = this.spelling.tail(ids);
    if (!this.words && /^[A-Za-z]/.test(tail)) tail = "";
    let found = this.known.get(tail);
    if (!found) this.known.set(tail, (found = this.forbiddenAfter(tail)));
    return found;
  }

  /** Whether a text that ends in `tail` may go on with `added`. */
  allows(tail: string, added: string): boolean {
    const whole = tail + added;
    for (const { 0: text, index } of whole.matchAll(RUN))
      if (!this.mayStand(whole, text, index)) return false;
    return true;
  }

  /** What goes on with the tail is judged; all else leaves it, and is judged by itself. */
  private forbiddenAfter(tail: string): readonly number[] {
    const { texts, letters, digits } = this.spelling;
    const goingOn = /^[A-Za-z]/.test(tail) ? letters : digits;
    const leaves = this.allows(tail, STOP);
    const alone = new Set(this.alone);
    const wrong = texts.flatMap((text, id) => {
      if (goingOn.has(id)) return this.allows(tail, text) ? [] : [id];
      return leaves && !alone.has(id) ? [] : [id];
    });
    return wrong.length < texts.length ? wrong : [];
  }

  private mayStand(whole: string, text: string, start: number): boolean {
    const end = start + text.length;
    if (!/^[0-9]/.test(text)) return this.isWord(text, end === whole.length);
    if (!this.numbers) return true;
    const after = WITHIN.exec(whole.slice(0, start))?.[0];
    if (after === undefined && text.length < LONG && whole[end] !== ":") return true;
    const fullHour = text === "00" || (text === "0" && end === whole.length);
    return (after === ":" && fullHour) || this.isNumber(whole, this.numbers, end);
  }

  private isWord(text: string, open: boolean): boolean {
    if (text.length < LONG || !this.words || text === text.toUpperCase()) return true;
    return (open ? this.begun : this.words).has(text.toLowerCase());
  }

  /** Whether the digits that end at `end` are a number: with those before a separator, if any. */
  private isNumber(whole: string, numbers: ReadonlySet<string>, end: number): boolean {
    const joined = tailOf(whole.slice(0, end))
      .split(":")
      .at(-1)!
      .replace(/[^0-9]/g, "");
    if (numbers.has(joined)) return true;
    if (end === whole.length) return this.begun.has(joined);
    // A separator goes on with what is joined, if a digit follows.
    const follows = end + 1 === whole.length || /[0-9]/.test(whole[end + 1]!);
    return SEPARATORS.includes(whole[end]!) && follows && this.begun.has(joined);
  }
}

/**
 * The spans of a source `text` that count for its translation from `src` into `tgt`; null where
 * nothing counts.
 */
export function sourceSpans(
  spelling: Spelling,
  text: string,
  src: string,
  tgt: string,
  names: Names | null = null,
): SourceSpans | null {
  const source = narrow(text);
  const numbers = inDigits(source.toLowerCase(), src);
  const named = OTHER_SCRIPTS.includes(tgt) && !OTHER_SCRIPTS.includes(src);
  if (!numbers && !named && !names) return null;
  return new SourceSpans(spelling, numbers, named ? namesOf(source) : null, names);
}

/** Set the scores of what the source does not have to -Infinity, unless nothing would be left. */
export function banSpans(
  scores: Float32Array,
  spans: SourceSpans | null,
  ids: readonly number[],
): void {
  const wrong = spans?.forbidden(ids) ?? [];
  if (!wrong.length) return;
  const before = wrong.map((id) => scores[id]!);
  for (const id of wrong) scores[id] = -Infinity;
  if (scores.every((score) => score === -Infinity))
    wrong.forEach((id, at) => (scores[id] = before[at]!));
}

/** Every Latin word, its parts beside hyphens and apostrophes, and the same without accents. */
function namesOf(text: string): string[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "");
  const names = [...(text.match(NAME) ?? []), ...(plain.match(NAME) ?? [])];
  return names.flatMap((name) => {
    const parts = name.match(/[A-Za-z]+/g)!;
    return [...parts, parts.join("")];
  });
}

/** The number, as far as it may go on, or the Latin word that `text` ends in; or "". */
function tailOf(text: string): string {
  return TAIL.exec(text)![0];
}

function narrow(text: string): string {
  return text.replace(/[０-９Ａ-Ｚａ-ｚ]/g, (char) =>
    String.fromCharCode(char.charCodeAt(0) - 0xfee0),
  );
}

function beginnings(span: string): string[] {
  return Array.from(span, (_, at) => span.slice(0, at + 1));
}
