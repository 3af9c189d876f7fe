/* What a setting or a field of the lab may be, refused in the words of
   `translator/registry/field.py`. */

import { type Asked, LIMITS } from "../protocol/registry";
import { Refusal } from "./refusal";

/**
 * Refuse what no field of this kind can be; `high` where only the model or the sentence says it.
 */
export function check(
  { kind, choices = [], low = -Infinity, ...asked }: Asked,
  name: string,
  value: unknown,
  high = asked.high ?? Infinity,
): void {
  const number = typeof value === "number" && value >= low && value <= high;
  const range = `from ${low}${high === Infinity ? "" : ` to ${high}`}`;
  const judged: Record<Asked["kind"], [right: () => boolean, want: string]> = {
    whole: [() => number && Number.isInteger(value), `a whole number ${range}`],
    number: [() => number, `a number ${range}`],
    choice: [() => choices.includes(value as string), `one of ${choices.join(", ")}`],
    text: [
      () => typeof value === "string" && value.length <= LIMITS.characters,
      `a text of at most ${LIMITS.characters.toLocaleString("en")} characters`,
    ],
    pairs: [() => pairs(value, low, high), "pairs of layer and head, or null for all"],
  };
  const [right, want] = judged[kind];
  if (right()) return;
  if (kind === "text") throw new Refusal(`${name} must be ${want}`);
  const said = value === null || value === undefined ? "is missing" : `is ${shown(value)}`;
  throw new Refusal(`${name} ${said}; it must be ${want}`);
}

function pairs(value: unknown, low: number, high: number): boolean {
  const whole = (n: unknown) => Number.isInteger(n) && Number(n) >= low && Number(n) <= high;
  const pair = (each: unknown) => Array.isArray(each) && each.length === 2 && each.every(whole);
  return Array.isArray(value) && value.length > 0 && value.every(pair);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 40);
}
