/* How a token is written wherever it is shown: translator/figures/label.py. */

import { belongs, SPACE } from "../text/characters";

const KEPT = "\u200c\u200d";
const BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0";
const GAP = /[\t\n\r\v\f \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const ENDS = new RegExp(`^([${SPACE}]*)(.*?)([${SPACE}]*)$`, "su");

const isMark = belongs("mark");
const isHidden = belongs("hidden");
const turns = belongs("rightToLeft");

/**
 * `text` visible, at most `limit` characters long, and kept to its own direction: spaces at the
 * ends show as ␣, what is invisible as ·, and so does an empty text; right-to-left text is
 * isolated.
 */
export function plain(text: string, limit?: number): string {
  const shown = cut(visible(text), limit);
  return [...shown].some(turns) ? `\u2068${shown}\u2069` : shown;
}

const LIMIT = 12;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** `plain`, escaped for a sink that reads HTML, as every text of a figure is; `null` shows all. */
export function label(text: string, limit: number | null = LIMIT): string {
  const escaped = (char: string) => ENTITIES[char] ?? `&#${char.charCodeAt(0)};`;
  return plain(text, limit ?? undefined).replace(/[&<>"'`$%]/g, escaped);
}

function visible(text: string): string {
  if (!text) return "·";
  const [, lead, body, tail] = ENDS.exec(text) as unknown as [string, string, string, string];
  const shown = [...body].map(mark).join("");
  return "␣".repeat(lead.length) + (isMark(shown) ? "◌" : "") + shown + "␣".repeat(tail.length);
}

function mark(char: string): string {
  if (/[\ud800-\udfff]/u.test(char)) return "\ufffd";
  if (GAP.test(char)) return " ";
  if ((isHidden(char) && !KEPT.includes(char)) || BLANK.includes(char)) return "·";
  return char;
}

/** At most `limit` characters and an ellipsis, never between a letter and its marks. */
function cut(text: string, limit?: number): string {
  const chars = [...text];
  if (limit === undefined || chars.length <= limit) return text;
  let end = limit - 1;
  while (
    end > 1 &&
    (isMark(chars[end]!) || KEPT.includes(chars[end]!) || chars[end - 1] === "\u200d")
  )
    end--;
  return `${chars.slice(0, end).join("")}…`;
}
