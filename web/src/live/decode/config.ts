/* How one sentence is decoded, and what of that can be: `translator.config.DecodeConfig`, and the page's own limits. */

import { Refusal } from "../refusal";

/** As config.json holds it; see DecodeConfig for what each means. */
export interface DecodeConfig {
  method: "greedy" | "beam" | "sample";
  beam: number;
  length_penalty: number;
  penalty_kind: "wu" | "power";
  coverage_penalty: number;
  coverage_heads: readonly (readonly [layer: number, head: number])[] | null;
  early_stopping: boolean | "never";
  force_eos: boolean;
  first_id: number | null;
  no_repeat_ngram_size: number;
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
  max_length: number | null;
  candidates: number;
}

/** What one sentence may ask for: `Limits`, and `limits.settings` of the served page. */
export const LIMITS = {
  characters: 1000,
  source_tokens: 128,
  target_tokens: 160,
  beam: 12,
  top_k: 1000,
  candidates: 16,
} as const;

type Rule = (name: string, value: unknown) => void;

const whole =
  (low: number, high: number): Rule =>
  (name, value) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < low || value > high)
      throw new Refusal(
        `${name} is ${shown(value)}; it must be a whole number from ${low} to ${high}`,
      );
  };

const real =
  (low: number, high: number): Rule =>
  (name, value) => {
    if (typeof value !== "number" || !(value >= low && value <= high))
      throw new Refusal(`${name} is ${shown(value)}; it must be a number from ${low} to ${high}`);
  };

const choice =
  (...known: unknown[]): Rule =>
  (name, value) => {
    if (!known.includes(value))
      throw new Refusal(`${name} is ${shown(value)}; it must be one of ${known.join(", ")}`);
  };

const heads: Rule = (name, value) => {
  const pair = (each: unknown) =>
    Array.isArray(each) &&
    each.length === 2 &&
    each.every((n) => Number.isInteger(n) && n >= 0 && n < 128);
  if (value !== null && !(Array.isArray(value) && value.length && value.every(pair)))
    throw new Refusal(
      `${name} is ${shown(value)}; it must be pairs of layer and head, or null for all`,
    );
};

/** What a config.json from before these settings does not hold. */
export const LATER = { coverage_penalty: 0, coverage_heads: null, first_id: null } as const;

const RULES: Record<keyof DecodeConfig, Rule> = {
  method: choice("greedy", "beam", "sample"),
  beam: whole(1, LIMITS.beam),
  length_penalty: real(-5, 5),
  penalty_kind: choice("wu", "power"),
  coverage_penalty: real(0, 5),
  coverage_heads: heads,
  early_stopping: choice(true, false, "never"),
  force_eos: choice(true, false),
  first_id: (name, value) => value === null || whole(0, 1_000_000)(name, value),
  no_repeat_ngram_size: whole(0, 4096),
  temperature: real(0.01, 10),
  top_k: whole(0, LIMITS.top_k),
  top_p: real(0.001, 1),
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  max_length: (name, value) => value === null || whole(1, 4096)(name, value),
  candidates: whole(1, LIMITS.candidates),
};

/** `settings` over what the checkpoint is best decoded with. */
export function decodeConfig(usual: DecodeConfig, settings: object): DecodeConfig {
  for (const [name, value] of Object.entries(settings)) {
    if (!Object.hasOwn(RULES, name)) throw new Refusal(`unknown setting '${name}'`);
    RULES[name as keyof DecodeConfig](name, value);
  }
  return { ...usual, ...settings };
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 40);
}
