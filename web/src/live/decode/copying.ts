/* Numbers and Latin names of a translation are those of its source: what a search must not write.
   decode/copying.py, in the same order. */

/** Digits or letters from which a run is judged. */
const LONG = 3;
/** Digits from which a number may be written as a multiple of one that has a word. */
const LARGE = 6;
/** Zeros of the numbers that have a word in any of our languages. */
const WORDS_FOR = [3, 4, 6, 8, 9];
/** Runs of digits, at most, that separators make one number of. */
const GROUPS = 8;
/** Languages that write in other letters than German and English do. */
const OTHER_SCRIPTS = "ar bg el fa he hi ja ko ru th uk zh".split(" ");

const SEPARATORS = ".,'’\u00a0\u2009\u202f";
const RUN = /[0-9]+|[A-Za-z]+/g;
const JOINED = `[0-9]+(?:[${SEPARATORS}][0-9]+)*`;
const THOUSANDS = new RegExp(
  `(?<![0-9])[1-9][0-9]{0,2}(?:([${SEPARATORS}])[0-9]{3}(?:\\1[0-9]{3})*)(?![0-9])`,
  "g",
);
const SPACED = /(?<![0-9])[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])/g;
const TAIL = new RegExp(`(?<![0-9])(?:[0-9]+[${SEPARATORS}])*[0-9]*$|(?<![A-Za-z])[A-Za-z]+$`);
const NAME = /[A-Za-z]+(?:[-'’][A-Za-z]+)*/g;
const STOP = "\n";
const [NO_LETTER_BEFORE, NO_LETTER_AFTER] = ["(?<![a-zäöüß])", "(?![a-zäöüß])"];

/** Words of which numbers are composed. */
const COMPOSING: Record<string, RegExp> = {
  de: new RegExp(
    "(?<!jahr)(?:hundert|tausend)|million|milliarde|billion|dutzend|zw(?:ö|oe)lf" +
      `|${NO_LETTER_BEFORE}elf(?:te[nrs]?)?${NO_LETTER_AFTER}` +
      "|(?:drei|vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zehn|zwanzig|drei(?:ß|ss)ig" +
      "|(?:vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zig",
  ),
  en: new RegExp(
    `${NO_LETTER_BEFORE}(?:eleven|twelve|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teen|dozen` +
      "|hundred|thousand|[mb]illion|trillion|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ie))",
  ),
};

/** Words that multiply the number before them, and by how many zeros. */
const TIMES: Record<string, Record<string, number>> = {
  de: {
    hundert: 2,
    tausend: 3,
    tsd: 3,
    "million(?:en)?": 6,
    mio: 6,
    "milliarden?": 9,
    mrd: 9,
  },
  en: {
    "hundreds?": 2,
    "centur(?:y|ies)": 2,
    "thousands?": 3,
    k: 3,
    "millions?": 6,
    "billions?": 9,
  },
};
const MULTIPLIED = Object.fromEntries(
  Object.entries(TIMES).map(([language, words]) => [
    language,
    `(?<![0-9${SEPARATORS}])(${JOINED})[ \u00a0\u202f-]?` +
      `(?:${Object.keys(words)
        .map((word) => `(${word})`)
        .join("|")})${NO_LETTER_AFTER}`,
  ]),
);

/** What each token of a target vocabulary adds to a text, sorted by what the rules look at. */
export class Spelling {
  readonly texts: readonly string[];
  /** Tokens that go on with a number or with a Latin word, and those that hold a long one. */
  readonly digits: ReadonlySet<number>;
  readonly letters: ReadonlySet<number>;
  readonly longNumbers: ReadonlySet<number>;
  readonly longWords: ReadonlySet<number>;
  private readonly parts: ReadonlySet<number>;
  private readonly ends: ReadonlySet<number>;

  /** `texts` of every id, as `spelling` gives them. */
  constructor(texts: readonly string[]) {
    this.texts = texts.map(narrow);
    const part = `[0-9A-Za-z${SEPARATORS}]`;
    this.parts = this.found(`(?!${part})[\\s\\S]|^$`);
    this.ends = this.found(`(?!${part})[\\s\\S]$|^$`);
    this.longNumbers = this.found(`[0-9]{${LONG}}`);
    this.longWords = this.found(`[A-Za-z]{${LONG}}`);
    this.digits = this.found(`^[0-9${SEPARATORS}]`);
    this.letters = this.found("^[A-Za-z]");
  }

  private found(pattern: string): Set<number> {
    const compiled = new RegExp(pattern);
    return new Set(this.texts.flatMap((text, id) => (compiled.test(text) ? [id] : [])));
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
  private readonly numbers: ReadonlySet<string> | null;
  private readonly words: ReadonlySet<string> | null;
  private readonly begun: ReadonlySet<string>;
  private readonly alone: readonly number[];
  private readonly known = new Map<string, readonly number[]>();

  /** Of `numbers` and `words` each is null where nothing is asked of it. */
  constructor(
    private readonly spelling: Spelling,
    numbers: readonly string[] | null,
    words: readonly string[] | null,
  ) {
    this.numbers = numbers && new Set(numbers.flatMap(multiples));
    this.words = words && new Set(words.map((word) => word.toLowerCase()));
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
    for (const { 0: text, index } of whole.matchAll(RUN)) {
      const end = index + text.length;
      if (text.length >= LONG && !this.mayStand(whole, text, end)) return false;
    }
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

  private mayStand(whole: string, text: string, end: number): boolean {
    if (/^[0-9]/.test(text)) return !this.numbers || this.isNumber(whole, text, end);
    if (!this.words || text === text.toUpperCase()) return true;
    return (end === whole.length ? this.begun : this.words).has(text.toLowerCase());
  }

  private isNumber(whole: string, digits: string, end: number): boolean {
    const joined = tailOf(whole.slice(0, end)).replace(/[^0-9]/g, "");
    const both = [digits, joined];
    if (both.some((each) => this.numbers!.has(each))) return true;
    if (end === whole.length) return both.some((each) => this.begun.has(each));
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
): SourceSpans | null {
  const source = narrow(text);
  const known = Object.hasOwn(COMPOSING, src);
  const counted = known && /[0-9]/.test(source) && !composes(source.toLowerCase(), src);
  const named = known && OTHER_SCRIPTS.includes(tgt);
  if (!counted && !named) return null;
  const numbers = counted ? numbersOf(source.toLowerCase(), src) : null;
  return new SourceSpans(spelling, numbers, named ? namesOf(source) : null);
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

/** Whether a word of `text`, in lower case, makes a number that does not stand there in digits. */
function composes(text: string, language: string): boolean {
  return COMPOSING[language]!.test(text.replace(new RegExp(MULTIPLIED[language]!), ""));
}

/** Every number of `text`, in lower case, as it may be written. */
function numbersOf(text: string, language: string): string[] {
  const out: string[] = [];
  for (const joined of text.match(new RegExp(JOINED, "g")) ?? []) {
    const whole = joined.replace(THOUSANDS, (found) => found.replace(/[^0-9]/g, ""));
    const runs = whole.match(/[0-9]+/g)!;
    runs.forEach((_, first) => {
      for (let end = first + 1; end <= Math.min(first + GROUPS, runs.length); end++)
        out.push(runs.slice(first, end).join(""));
    });
  }
  for (const spaced of text.match(SPACED) ?? []) out.push(spaced.replaceAll(" ", ""));
  for (const found of text.matchAll(new RegExp(MULTIPLIED[language]!, "g"))) {
    const runs = found[1]!.match(/[0-9]+/g)!;
    const last = runs.at(-1)!.length;
    const zeros = Object.values(TIMES[language]!)[found.slice(2).findIndex(Boolean)]!;
    out.push(runs.join("") + "0".repeat(zeros));
    if (runs.length > 1 && last <= zeros) out.push(runs.join("") + "0".repeat(zeros - last));
  }
  return out;
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

/** A number, and a large one as a multiple of those that have a word. */
function multiples(number: string): string[] {
  if (number.length < LARGE) return [number];
  const zeros = WORDS_FOR.filter((count) => number.endsWith("0".repeat(count)));
  return [number, number.replace(/0+$/, ""), ...zeros.map((count) => number.slice(0, -count))];
}

function beginnings(span: string): string[] {
  return Array.from(span, (_, at) => span.slice(0, at + 1));
}
