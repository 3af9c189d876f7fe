/* One id for every word, or for every character; what the vocabulary lacks keeps its surface.
   text/vocabulary.py. */

import { normalise, normaliseText, type Span, type TextConfig } from "./normalise";
import { wholeWords, words } from "./segment";
import {
  checkIds,
  inPlace,
  makeToken,
  SPECIALS,
  typedSpan,
  UNKNOWN,
  wordOfUnits,
  type Encoding,
  type Token,
  type Tokenizer,
  type TokenizerFile,
} from "./tokenizer";

const NO_SPACE_BEFORE = [...".,;:!?)]}%…"];
const NO_SPACE_AFTER = [..."([{¿¡"];

/** Words ("word") or characters ("char") as tokens; ids 0-3 are special. */
export class VocabularyTokenizer implements Tokenizer {
  readonly config: TextConfig;
  private readonly pieces: readonly string[];
  private readonly idOf: Map<string, number>;

  constructor(file: TokenizerFile) {
    this.config = file.config;
    this.pieces = file.pieces;
    // The special tokens are left out: somebody may type them.
    this.idOf = new Map(
      file.pieces.flatMap((piece, id) => (id < SPECIALS.length ? [] : [[piece, id]])),
    );
  }

  get size(): number {
    return this.pieces.length;
  }

  encode(text: string): Encoding {
    const normalised = normalise(text, this.config);
    const spans = this.units(normalised.text);
    const ids = spans.map(
      ([start, end]) => this.idOf.get(normalised.text.slice(start, end)) ?? UNKNOWN,
    );
    const typed = spans.map(([start, end]) => typedSpan(normalised, start, end));
    return { normalised, tokens: this.located(ids, normalised.text, spans, typed) };
  }

  ids(text: string): number[] {
    const made = normaliseText(text, this.config);
    return this.units(made).map(([start, end]) => this.idOf.get(made.slice(start, end)) ?? UNKNOWN);
  }

  decode(ids: readonly number[]): string {
    return this.joined(ids)[0];
  }

  tokens(ids: readonly number[]): Token[] {
    const [text, spans] = this.joined(ids);
    return this.located(ids, text, spans, spans);
  }

  token(id: number): Token {
    checkIds([id], this.size);
    const piece = this.pieces[id]!;
    const shown = piece === " " ? "▁" : piece;
    return makeToken(id, shown, { special: skipped(id), unknown: id === UNKNOWN });
  }

  private units(text: string): Span[] {
    if (this.config.level !== "char") return words(text, this.config.language);
    const spans = inPlace(text).spans;
    return spans.filter((span, at) => span[0] === at);
  }

  /** The text of `ids` and the span of each id in it (empty for special tokens). */
  private joined(ids: readonly number[]): [string, Span[]] {
    checkIds(ids, this.size);
    const characters = this.config.level === "char";
    const spans: Span[] = [];
    let [text, quoted] = ["", false];
    for (const id of ids) {
      if (skipped(id)) {
        spans.push([text.length, text.length]);
        continue;
      }
      const part = characters && id === UNKNOWN ? "\ufffd" : this.pieces[id]!;
      if (!characters && spaced(text, part, this.config, quoted)) text += " ";
      if (part === '"') quoted = !quoted;
      spans.push([text.length, text.length + part.length]);
      text += part;
    }
    return [text, spans];
  }

  /**
   * `ids` as tokens: `spans` into `text` tell surfaces and words, `places` is what the tokens
   * carry.
   */
  private located(
    ids: readonly number[],
    text: string,
    spans: readonly Span[],
    places: readonly Span[],
  ): Token[] {
    const characters = this.config.level === "char";
    const wordOf = wordOfUnits(text, wholeWords(text, this.config.language));
    return ids.map((id, i) => {
      if (skipped(id)) return makeToken(id, this.pieces[id]!, { special: true });
      const [start, end] = spans[i]!;
      const word = wordOf[start]!;
      const shown = text.slice(start, end) === " " ? "▁" : text.slice(start, end);
      const space = characters ? shown === "▁" : text[start - 1] === " ";
      return makeToken(id, shown, { span: places[i]!, word, space, unknown: id === UNKNOWN });
    });
  }
}

function skipped(id: number): boolean {
  return id < SPECIALS.length && id !== UNKNOWN;
}

/**
 * Whether a space goes between `text` and the word `part`; `quoted`: a straight quotation mark is
 * open.
 */
function spaced(text: string, part: string, config: TextConfig, quoted: boolean): boolean {
  if (!text) return false;
  const [before, after] = [[...text].at(-1)!, [...part][0]!];
  if (config.language === "zh") return /[0-9A-Za-z]/.test(before) && /[0-9A-Za-z]/.test(after);
  if (NO_SPACE_BEFORE.includes(part) || NO_SPACE_AFTER.includes(before)) return false;
  return !(quoted && (part === '"' || before === '"'));
}
