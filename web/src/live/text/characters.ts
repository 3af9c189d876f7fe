/* Sets of characters as regular expressions write them, and what they are good for. */

import { CLASSES } from "./classes";

type Name = keyof typeof CLASSES;

/** White space to Python: `str.isspace`. */
export const SPACE =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/**
 * Zero-width and bidi controls, soft hyphen, and controls that are not white space; U+200D stays:
 * emoji need it.
 */
export const INVISIBLE =
  "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200c" +
  "\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";

export const HAN =
  "\\u3007\\u3005\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";

/** The inside of a character class of regular expressions with the flag u. */
export function classOf(name: Name): string {
  let end = 0;
  return CLASSES[name]
    .split(" ")
    .map((run) => {
      const [gap, length = "1"] = run.split(".") as [string, string?];
      const first = end + parseInt(gap, 36);
      end = first + parseInt(length, 36);
      return end - first === 1 ? escape(first) : `${escape(first)}-${escape(end - 1)}`;
    })
    .join("");
}

/** Whether a character, or the first of a text, belongs to a class. */
export function belongs(name: Name): (char: string) => boolean {
  const pattern = new RegExp(`^[${classOf(name)}]`, "u");
  return (char) => pattern.test(char);
}

/** The number of code points, which is what Python's `len` counts. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count++;
  return count;
}

function escape(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
