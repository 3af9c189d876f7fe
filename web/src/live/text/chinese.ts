/* Chinese words as the package jieba finds them, with its own dictionary, which an exported site
 * brings along.
 *
 * Sources: jieba's `Tokenizer.__cut_DAG` (the most probable way through the words of a dictionary)
 * and `finalseg` (a hidden Markov model for what the dictionary lacks).
 */

/** What `translator.ui.live.chinese` writes of the installed jieba and OpenCC. */
export interface ChineseFile {
  /** Sum of all frequencies. */
  total: number;
  /** "word frequency" lines, words in the order of their UTF-16 units. */
  words: string;
  /**
   * Log-probabilities of the states B, M, E, S: at the start, from one to another, and of each
   * character.
   */
  start: Record<string, number>;
  trans: Record<string, Record<string, number>>;
  emit: Record<string, Record<string, number>>;
  /** Traditional to simplified: characters, and phrases that are not converted one by one. */
  simple: Record<string, string>;
}

const NEVER = -3.14e100;
const BEFORE: Record<string, string> = { B: "ES", M: "MB", S: "SE", E: "BM" };
const KNOWN = /[\u4e00-\u9fd5]+/g;
/** jieba's hidden Markov model takes time quadratic in the length of a run. */
const CHUNK = 200;

/** The words of a dictionary, looked up without a table of their beginnings. */
class Dictionary {
  private readonly words: string[] = [];
  private readonly counts: Float64Array;

  constructor(file: ChineseFile) {
    const lines = file.words.split("\n");
    this.counts = new Float64Array(lines.length);
    lines.forEach((line, i) => {
      const gap = line.indexOf(" ");
      this.words.push(line.slice(0, gap));
      this.counts[i] = Number(line.slice(gap + 1));
    });
  }

  /** How often `word` was counted; 0 for what is no word. */
  count(word: string): number {
    const at = this.first(word);
    return this.words[at] === word ? this.counts[at]! : 0;
  }

  /** Whether any word begins so. */
  begins(part: string): boolean {
    return this.words[this.first(part)]?.startsWith(part) ?? false;
  }

  /** The place of the first word that is not less than `word`. */
  private first(word: string): number {
    let [low, high] = [0, this.words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.words[middle]! < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

class Segmenter {
  private readonly dictionary: Dictionary;
  private readonly logTotal: number;

  constructor(private readonly file: ChineseFile) {
    this.dictionary = new Dictionary(file);
    this.logTotal = Math.log(file.total);
  }

  /** A run of Chinese characters as words. */
  cut(run: string): string[] {
    const words: string[] = [];
    let position = 0;
    for (const { 0: known, index } of run.matchAll(KNOWN)) {
      words.push(...run.slice(position, index), ...this.cutKnown(known));
      position = index + known.length;
    }
    return [...words, ...run.slice(position)];
  }

  private cutKnown(run: string): string[] {
    const ends = this.route(run);
    const words: string[] = [];
    let loose = "";
    const flush = () => {
      if (loose.length > 1 && !this.dictionary.count(loose)) words.push(...this.unknown(loose));
      else words.push(...loose);
      loose = "";
    };
    for (let at = 0; at < run.length; at = ends[at]!) {
      if (ends[at] === at + 1) loose += run[at];
      else {
        flush();
        words.push(run.slice(at, ends[at]));
      }
    }
    flush();
    return words;
  }

  /** Where the word that begins at each character ends, on the most probable way from there. */
  private route(run: string): number[] {
    const best = new Float64Array(run.length + 1);
    const ends = new Array<number>(run.length);
    for (let at = run.length - 1; at >= 0; at--) {
      let most = -Infinity;
      const take = (end: number, count: number) => {
        const value = Math.log(count || 1) - this.logTotal + best[end]!;
        if (value >= most) [most, ends[at]] = [value, end];
      };
      let found = false;
      for (
        let end = at + 1;
        end <= run.length && this.dictionary.begins(run.slice(at, end));
        end++
      ) {
        const count = this.dictionary.count(run.slice(at, end));
        if (count) take(end, count);
        found ||= count > 0;
      }
      if (!found) take(at + 1, 0);
      best[at] = most;
    }
    return ends;
  }

  /**
   * Characters that are no word of the dictionary: the most probable states begin, middle, end,
   * single (Viterbi).
   */
  private unknown(run: string): string[] {
    const { start, trans, emit } = this.file;
    const emitted = (state: string, at: number) => emit[state]![run[at]!] ?? NEVER;
    let scores: Record<string, number> = {};
    let paths: Record<string, string> = {};
    for (const state of "BMES") {
      scores[state] = start[state]! + emitted(state, 0);
      paths[state] = state;
    }
    for (let at = 1; at < run.length; at++) {
      const [next, ways]: [Record<string, number>, Record<string, string>] = [{}, {}];
      for (const state of "BMES") {
        const value = (from: string) =>
          scores[from]! + (trans[from]![state] ?? NEVER) + emitted(state, at);
        const from = larger(BEFORE[state]!, value);
        next[state] = value(from);
        ways[state] = paths[from]! + state;
      }
      [scores, paths] = [next, ways];
    }
    const path = paths[larger("ES", (state) => scores[state]!)]!;
    const words: string[] = [];
    let begin = 0;
    [...path].forEach((state, at) => {
      if (state === "B") begin = at;
      else if (state === "E") words.push(run.slice(begin, at + 1));
      else if (state === "S") words.push(run[at]!);
      if (state === "E" || state === "S") begin = at + 1;
    });
    return begin < run.length ? [...words, run.slice(begin)] : words;
  }
}

/**
 * The state with the largest value; among equals the one that comes later in the alphabet, as in
 * Python's max.
 */
function larger(states: string, value: (state: string) => number): string {
  return [...states].reduce((a, b) => {
    const [x, y] = [value(a), value(b)];
    return x > y || (x === y && a > b) ? a : b;
  });
}

let segmenter: Segmenter | undefined;
let simple = new Map<string, string>();
let longest = 1; // of the phrases in it, in characters

/** Let Chinese be cut by this dictionary from now on; until then each character is a word. */
export function useChinese(file: ChineseFile): void {
  segmenter = new Segmenter(file);
  simple = new Map(Object.entries(file.simple));
  longest = Math.max(...[...simple.keys()].map((phrase) => [...phrase].length));
}

/** Whether `useChinese` was called. */
export function chineseIsKnown(): boolean {
  return segmenter !== undefined;
}

/** A run of Chinese characters as words. */
export function chineseWords(run: string): string[] {
  if (!segmenter) return [...run];
  const [words, chars] = [[] as string[], [...run]];
  for (let at = 0; at < chars.length; at += CHUNK)
    words.push(...segmenter.cut(chars.slice(at, at + CHUNK).join("")));
  return words;
}

/**
 * Traditional characters as simplified ones, again until nothing changes: one character needs two
 * steps.
 */
export function simplified(text: string): string {
  for (let round = 0; round < 4; round++) {
    const made = converted(text);
    if (made === text) break;
    text = made;
  }
  return text;
}

/** At each place the longest phrase that is known, or else the character. */
function converted(text: string): string {
  const chars = [...text];
  let out = "";
  for (let at = 0; at < chars.length;) {
    let size = Math.min(longest, chars.length - at);
    while (size > 1 && !simple.has(chars.slice(at, at + size).join(""))) size--;
    const found = chars.slice(at, at + size).join("");
    out += simple.get(found) ?? found;
    at += size;
  }
  return out;
}
