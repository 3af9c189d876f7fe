/* What every tokenizer of a live page does: text to ids and back. text/tokenizer.py. */

import { Refusal } from "../refusal";
import type { Normalised, Span, TextConfig } from "./normalise";

export const SPECIALS = ["<pad>", "<s>", "</s>", "<unk>"] as const;
export const [PAD, START, EOS, UNKNOWN] = [0, 1, 2, 3];

/**
 * One id and the text it stands for; `span` is in UTF-16 units, and null for special tokens. See
 * trace.py's Token.
 */
export interface Token {
  id: number;
  surface: string;
  span: Span | null;
  word: number;
  space: boolean;
  special: boolean;
  unknown: boolean;
}

/** A typed text as tokens, the end token not among them. */
export interface Encoding {
  normalised: Normalised;
  tokens: Token[];
}

export interface Tokenizer {
  readonly config: TextConfig;
  readonly size: number;
  encode(text: string): Encoding;
  ids(text: string): number[];
  decode(ids: readonly number[]): string;
  tokens(ids: readonly number[]): Token[];
  token(id: number): Token;
  /** What an id adds to a text behind a letter, where that needs no decoding. */
  added?(id: number): string | undefined;
}

/** A tokenizer's file, src.json or tgt.json. */
export interface TokenizerFile {
  version: number;
  config: TextConfig;
  pieces: string[];
  merges?: [number, number][];
}

/** A token with what is usual left out. */
export function makeToken(id: number, surface: string, more: Partial<Token> = {}): Token {
  const usual = { span: null, word: -1, space: false, special: false, unknown: false };
  return { id, surface, ...usual, ...more };
}

/** Refuse ids outside a vocabulary of `size` pieces. */
export function checkIds(ids: readonly number[], size: number): void {
  for (const id of ids)
    if (!(id >= 0 && id < size))
      throw new Refusal(`token id ${id} is outside the vocabulary of ${size} pieces`);
}

/** Where the units start … end - 1 of the normalised text stood in what was typed. */
export function typedSpan({ spans }: Normalised, start: number, end: number): Span {
  if (start < end) return [spans[start]![0], spans[end - 1]![1]];
  const here = spans[start]?.[0] ?? 0;
  return [here, here];
}

/** The word of each UTF-16 unit; white space counts to the word that follows, or to the last. */
export function wordOfUnits(text: string, spans: readonly Span[]): number[] {
  const out = new Array<number>(text.length).fill(Math.max(spans.length - 1, 0));
  let position = 0;
  spans.forEach(([, end], word) => {
    out.fill(word, position, end);
    position = end;
  });
  return out;
}

/** A text without places: what a translation is to its own tokens. */
export function inPlace(text: string): Normalised {
  const spans: Span[] = [];
  for (const char of text)
    for (let at = spans.length, unit = 0; unit < char.length; unit++)
      spans.push([at, at + char.length]);
  return { text, spans };
}
