/* Byte-pair encoding over words, with bytes for what is rare: every text has ids, every id list a
   text. subword.py. */

import { Refusal } from "../refusal";
import { classOf } from "./characters";
import { normalise, normaliseText, type Normalised, type Span, type TextConfig } from "./normalise";
import { wholeWords, words } from "./segment";
import {
  checkIds,
  inPlace,
  makeToken,
  SPECIALS,
  typedSpan,
  wordOfUnits,
  type Encoding,
  type Token,
  type Tokenizer,
  type TokenizerFile,
} from "./tokenizer";

const FIRST_BYTE = SPECIALS.length;
const FIRST_PIECE = FIRST_BYTE + 256;
const MOST_CACHED = 20_000;
const DIGIT = classOf("digit");
const DIGITS = new RegExp(`[${DIGIT}]|[^${DIGIT}]+`, "gu");
const UTF8 = new TextEncoder();

/**
 * BPE pieces of one side's text; ids 0-3 are special, 4-259 are the bytes, then come the pieces.
 */
export class SubwordTokenizer implements Tokenizer {
  readonly config: TextConfig;
  /** What is read of a typed text; every character stays in its place. */
  typed = (text: string): string => text;
  private readonly pieces: readonly string[];
  private readonly idOf: Map<string, number>;
  /** Rank and result of each merge, by left · size + right. */
  private readonly merges: Map<number, readonly [rank: number, id: number]>;
  private readonly cache = new Map<string, readonly number[]>();

  constructor(file: TokenizerFile) {
    this.config = file.config;
    this.pieces = file.pieces;
    this.idOf = new Map(file.pieces.map((piece, id) => [piece, id]));
    this.merges = new Map(
      (file.merges ?? []).map(([left, right], rank) => {
        const made = this.idOf.get(file.pieces[left]! + file.pieces[right]!);
        if (made === undefined) throw new Refusal(`merge ${rank} of the vocabulary makes no piece`);
        return [left * this.size + right, [rank, made]];
      }),
    );
  }

  get size(): number {
    return this.pieces.length;
  }

  encode(text: string): Encoding {
    const normalised = normalise(this.typed(text), this.config);
    const ids = split(normalised.text, this.config).flatMap((part) => this.idsOf(part));
    return { normalised, tokens: this.located(ids, normalised) };
  }

  ids(text: string): number[] {
    const made = normaliseText(this.typed(text), this.config);
    return split(made, this.config).flatMap((part) => this.idsOf(part));
  }

  decode(ids: readonly number[]): string {
    const [text] = this.walk(ids);
    return text.slice(this.offset(text));
  }

  tokens(ids: readonly number[]): Token[] {
    return this.located(ids, inPlace(this.decode(ids)));
  }

  token(id: number): Token {
    checkIds([id], this.size);
    const piece = this.pieces[id]!;
    if (id < SPECIALS.length) return makeToken(id, piece, { special: true });
    return makeToken(id, surface(piece), { space: piece.startsWith(" ") });
  }

  added(id: number): string | undefined {
    return id >= FIRST_PIECE ? this.pieces[id] : undefined;
  }

  /**
   * One pre-token: characters, or their bytes, merged as long as any merge is known, the best one
   * first.
   */
  private idsOf(pretoken: string): readonly number[] {
    const known = this.cache.get(pretoken);
    if (known) return known;
    const ids = [...pretoken].flatMap((char) => this.spelt(char));
    while (ids.length > 1) {
      let [best, place]: [readonly [number, number] | undefined, number] = [undefined, 0];
      for (let i = 0; i + 1 < ids.length; i++) {
        const found = this.merges.get(ids[i]! * this.size + ids[i + 1]!);
        if (found && (!best || found[0] < best[0])) [best, place] = [found, i];
      }
      if (!best) break;
      ids.splice(place, 2, best[1]);
    }
    if (this.cache.size >= MOST_CACHED) this.cache.clear();
    this.cache.set(pretoken, ids);
    return ids;
  }

  private spelt(char: string): number[] {
    const id = this.idOf.get(char);
    return id === undefined ? Array.from(UTF8.encode(char), (byte) => FIRST_BYTE + byte) : [id];
  }

  /** How long the space glued before the first word is in a walked text. */
  private offset(text: string): number {
    return Number(this.config.prefix_space && text.startsWith(" "));
  }

  /**
   * The text of `ids`, glued space included, and the span of each id in it (empty for special
   * tokens).
   */
  private walk(ids: readonly number[]): [string, Span[]] {
    checkIds(ids, this.size);
    const spans: Span[] = ids.map(() => [0, 0]);
    const real = ids.flatMap((id, at) => (id >= SPECIALS.length ? [at] : []));
    let text = "";
    for (let position = 0; position < real.length;) {
      const id = ids[real[position]!]!;
      const [part, used] =
        id >= FIRST_PIECE
          ? [this.pieces[id]!, 1]
          : character(real.slice(position, position + 4).map((at) => ids[at]! - FIRST_BYTE));
      for (const at of real.slice(position, position + used))
        spans[at] = [text.length, text.length + part.length];
      text += part;
      position += used;
    }
    return [text, spans];
  }

  /** `ids`, which spell the normalised text, as tokens with spans into what was typed. */
  private located(ids: readonly number[], normalised: Normalised): Token[] {
    const [walked, spans] = this.walk(ids);
    const offset = this.offset(walked);
    const { text } = normalised;
    const wordOf = wordOfUnits(text, wholeWords(text, this.config.language));
    return ids.map((id, i) => {
      const piece = this.pieces[id]!;
      if (id < SPECIALS.length) return makeToken(id, piece, { special: true });
      let start = Math.max(spans[i]![0] - offset, 0);
      const end = spans[i]![1] - offset;
      const space = start < end && text[start] === " " && piece.startsWith(" ");
      if (space && end - start > 1) start++;
      const word = wordOf[start] ?? wordOf.reduce((a, b) => Math.max(a, b), 0);
      return makeToken(id, surface(piece), {
        span: typedSpan(normalised, start, end),
        word,
        space,
      });
    });
  }
}

/**
 * A normalised text as the strings that merges never cross: each word with the single space before
 * it, every digit alone, all other white space alone. With `prefix_space` the first word is like
 * any other.
 */
function split(text: string, config: TextConfig): string[] {
  let glued = config.prefix_space && text ? " " : "";
  const out: string[] = [];
  let position = 0;
  for (const [start, end] of words(text, config.language)) {
    const gap = glued + text.slice(position, start);
    glued = "";
    const space = gap.endsWith(" ") ? " " : "";
    out.push(...gap.slice(0, gap.length - space.length));
    const [first, ...rest] = text.slice(start, end).match(DIGITS)!;
    out.push(space + first, ...rest);
    position = end;
  }
  return [...out, ...(glued + text.slice(position))];
}

function surface(piece: string): string {
  return piece.replace(/^ /, "") || "▁";
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The character that the bytes at the head of `values` spell, and how many they are; U+FFFD for a
 * stray one.
 */
function character(values: readonly number[]): [string, number] {
  for (let count = 1; count <= values.length; count++) {
    if (!(values[count - 1]! >= 0 && values[count - 1]! < 256)) break;
    try {
      return [STRICT.decode(Uint8Array.from(values.slice(0, count))), count];
    } catch {
      continue;
    }
  }
  return ["\ufffd", 1];
}
