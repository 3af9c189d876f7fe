/* Tokens as messages carry them, and the words that they make up: ui/payload.py,
   analysis/aggregate.py. */

import { PUNCTUATION, SPACE as AFTER_SPACE, SPECIAL, UNKNOWN } from "../../protocol/flags";
import type * as Protocol from "../../protocol/messages";
import { classOf, SPACE } from "../text/characters";
import type { Token } from "../text/tokenizer";
import { plain } from "./label";

const ALL_SIGNS = new RegExp(`^[${classOf("sign")}]+$`, "u");
const STRIP = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");

/** Whether every character of the token's text is punctuation or a symbol, of any script. */
export function isPunctuation(token: Token): boolean {
  return !token.special && ALL_SIGNS.test(token.surface.replace(STRIP, ""));
}

export function tokenMessage(token: Token): Protocol.Token {
  const shown = plain(token.surface);
  const flags =
    SPECIAL * Number(token.special) +
    UNKNOWN * Number(token.unknown) +
    AFTER_SPACE * Number(token.space) +
    PUNCTUATION * Number(isPunctuation(token));
  const real = shown === token.surface ? {} : { r: token.surface };
  return { s: shown, i: token.id, f: flags, w: token.word, ...real };
}

/** The group of each token: pieces of one word share one, a special token has its own. */
export function wordGroups(tokens: readonly Token[]): number[] {
  const groups: number[] = [];
  tokens.forEach((token, at) => {
    const before = tokens[at - 1];
    if (!before) groups.push(0);
    else {
      const same = token.word === before.word && !token.special && !before.special;
      groups.push(groups[at - 1]! + Number(!same));
    }
  });
  return groups;
}

/**
 * The word group of each token, and what each group reads as: a stretch of `text`, or its joined
 * pieces.
 */
export function wordsMessage(tokens: readonly Token[], text: string): Protocol.Words {
  const groups = wordGroups(tokens);
  const surfaces: string[] = [];
  for (let group = 0; group <= (groups.at(-1) ?? -1); group++) {
    const members = tokens.filter((_, at) => groups[at] === group);
    const spans = members.flatMap(({ span }) => (span ? [span] : []));
    const whole = text && spans.length === members.length;
    const start = Math.min(...spans.map(([first]) => first));
    const end = Math.max(...spans.map(([, last]) => last));
    surfaces.push(
      plain(whole ? text.slice(start, end) : members.map(({ surface }) => surface).join("")),
    );
  }
  return { g: groups, s: surfaces };
}
