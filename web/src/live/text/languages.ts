/* The language of a text, as the package py3langid finds it (letter sequences, naive Bayes; Lui and
   Baldwin 2012). */

import { bytesOf } from "../../protocol/decode";

/** What `translator.ui.live.languages` writes of the installed package. */
export interface LanguagesFile {
  /** Each may stand here more than once, for its scripts. */
  languages: string[];
  /** Log-probability of each language. */
  prior: number[];
  /** How many of the sequences have 0, 1, 2 … bytes; they are sorted, shortest first. */
  counts: number[];
  /** For each sequence, a digit: how many bytes it has in common with the one before. */
  shared: string;
  /** The other bytes of all sequences, in base64. */
  rest: string;
  /**
   * Log-probability of each sequence in each language, [languages, sequences], float32 in base64.
   */
  scores: string;
}

class Identifier {
  readonly languages: readonly string[];
  private readonly prior: readonly number[];
  private readonly longest: number;
  /** The sequences as numbers: a 1, then their bytes; they ascend. */
  private readonly keys: Float64Array;
  private readonly scores: Float32Array;

  constructor(file: LanguagesFile) {
    this.languages = file.languages;
    this.prior = file.prior;
    this.longest = file.counts.length - 1;
    this.keys = keysOf(file);
    this.scores = new Float32Array(bytesOf(file.scores).buffer);
  }

  /** The likeliest of `wanted`, and its probability; that of the others is not counted. */
  classify(text: string, wanted: readonly string[]): [language: string, share: number] {
    const bytes = new TextEncoder().encode((isUpper(text) ? text.toLowerCase() : text).normalize());
    const found = this.counted(bytes);
    const columns = this.languages.flatMap((each, at) => (wanted.includes(each) ? [at] : []));
    const scores = columns.map((at) => this.score(found, at) / Math.sqrt(bytes.length || 1));
    const most = Math.max(...scores);
    const shares = new Map<string, number>();
    let total = 0;
    columns.forEach((column, i) => {
      const weight = Math.exp(scores[i]! - most);
      const language = this.languages[column]!;
      shares.set(language, (shares.get(language) ?? 0) + weight);
      total += weight;
    });
    const [best, weight] = [...shares].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
    return [best, weight / total];
  }

  private score(found: ReadonlyMap<number, number>, column: number): number {
    if (!found.size) return 0;
    const from = column * this.keys.length;
    let sum = this.prior[column]!;
    for (const [sequence, count] of found) sum += Math.log1p(count) * this.scores[from + sequence]!;
    return sum;
  }

  /** How often each sequence was found: at each byte, the longest that ends there. */
  private counted(bytes: Uint8Array): Map<number, number> {
    const found = new Map<number, number>();
    for (let end = 1; end <= bytes.length; end++) {
      let [value, power, longest] = [0, 1, -1];
      for (let n = 1; n <= Math.min(end, this.longest); n++, power *= 256) {
        value += bytes[end - n]! * power;
        const at = this.place(256 * power + value);
        if (at >= 0) longest = at;
      }
      if (longest >= 0) found.set(longest, (found.get(longest) ?? 0) + 1);
    }
    return found;
  }

  private place(key: number): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return this.keys[low] === key ? low : -1;
  }
}

function keysOf({ counts, shared, rest }: LanguagesFile): Float64Array {
  const bytes = bytesOf(rest);
  const keys = new Float64Array(shared.length);
  let [sequence, next] = [0, 0];
  counts.forEach((count, length) => {
    for (let i = 0; i < count; i++, sequence++) {
      const alike = Number(shared[sequence]);
      let key = alike ? Math.floor(keys[sequence - 1]! / 256 ** (length - alike)) : 1;
      for (let n = alike; n < length; n++) key = key * 256 + bytes[next++]!;
      keys[sequence] = key;
    }
  });
  return keys;
}

/** Python's `str.isupper`. */
function isUpper(text: string): boolean {
  return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}

let identifier: Identifier | undefined;

/** Tell languages apart from now on. */
export function useLanguages(file: LanguagesFile): void {
  identifier = new Identifier(file);
}

export function languagesAreKnown(): boolean {
  return identifier !== undefined;
}

/** The likeliest of `wanted` and its probability; "" where nothing is known of any. */
export function classify(text: string, wanted: readonly string[]): [string, number] {
  return identifier?.classify(text, wanted) ?? ["", 0];
}
