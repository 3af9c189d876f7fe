/* What the model makes of a text before it is translated: ui/session.py's `health` and `split`. */

import type { Health, Piece } from "../../protocol/messages";
import { LIMITS } from "../../protocol/registry";
import { countCharacters } from "../text/characters";
import type { Normalised } from "../text/normalise";
import type { Encoding, Token } from "../text/tokenizer";
import { plain } from "./label";

const BYTE = /^<0x[0-9A-F]{2}>$/;
const WORD = /[\p{L}\p{N}]/u;

/**
 * `limit` are the tokens that a text may have; `problem` the sentence with which it will be
 * refused, if it will.
 */
export function healthMessage(
  text: string,
  limit: number,
  problem: string,
  encode: (text: string) => Encoding,
): Health {
  const nothing = { words: 0, tokens: 0, unknown: 0, bytes: 0, changed: 0, normalised: "" };
  if (countCharacters(text) > LIMITS.characters) return { ...nothing, limit, problem };
  const { normalised, tokens } = encode(text);
  return {
    words: countWords(tokens, text),
    tokens: tokens.length + 1,
    unknown: tokens.filter(({ unknown }) => unknown).length,
    bytes: tokens.filter(({ surface }) => BYTE.test(surface)).length,
    changed: changed(text, normalised),
    normalised: text === normalised.text ? "" : plain(normalised.text, 400),
    limit,
    problem,
  };
}

/** How many words of a text the tokens stand for: count_words of analysis/aggregate.py. */
function countWords(tokens: readonly Token[], text: string): number {
  const lettered = tokens.filter(({ span }) => span && WORD.test(text.slice(...span)));
  return new Set(lettered.map(({ word }) => word)).size;
}

/** Every word of a text in the pieces that the model will read. */
export function splitMessage(text: string, encode: (text: string) => Encoding): Piece[][] {
  if (countCharacters(text) > LIMITS.characters) return [];
  const words = new Map<number, Piece[]>();
  for (const token of encode(text).tokens) {
    const piece = { s: plain(token.surface), ...(token.unknown ? { u: 1 } : {}) };
    words.set(token.word, [...(words.get(token.word) ?? []), piece]);
  }
  return [...words.values()];
}

/** How many characters normalising replaced, added or dropped. */
function changed(text: string, { text: made, spans }: Normalised): number {
  let [count, end] = [0, 0];
  for (let at = 0; at < made.length;) {
    const [low, high] = spans[at]!;
    let next = at;
    while (next < made.length && spans[next]![0] === low && spans[next]![1] === high) next++;
    const [old, fresh] = [[...text.slice(low, high)], [...made.slice(at, next)]];
    let alike = 0;
    while (alike < Math.min(old.length, fresh.length) && old[alike] === fresh[alike]) alike++;
    count += Math.max(0, countCharacters(text.slice(end, low)));
    count += Math.max(old.length, fresh.length) - alike;
    [end, at] = [high, next];
  }
  return count + countCharacters(text.slice(end));
}
