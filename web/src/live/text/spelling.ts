/* What each token of a vocabulary adds to a text: text/spelling.py. */

import type { Tokenizer } from "./tokenizer";

/**
 * The text that each id adds after a letter: " house" where a space goes before it, "" where it is
 * not seen. A byte of a longer character is U+FFFD.
 */
export function spelling(tokenizer: Tokenizer): string[] {
  const ids = Array.from({ length: tokenizer.size }, (_, id) => id);
  const before = ids.find((id) => /^[\p{L}\p{N}]+$/u.test(tokenizer.decode([id])));
  if (before === undefined) return ids.map((id) => tokenizer.decode([id]));
  const start = tokenizer.decode([before]).length;
  return ids.map((id) => tokenizer.added?.(id) ?? tokenizer.decode([before, id]).slice(start));
}
