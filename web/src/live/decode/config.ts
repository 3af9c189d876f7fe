/* How one sentence is decoded, and what of that can be: `translator.config.DecodeConfig`, as a
   public page grants it. */

import { DECODING, DEFAULTS } from "../../protocol/registry";
import { check } from "../check";
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
  spans_from_source: boolean;
  name_penalty: number;
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
  max_length: number | null;
  candidates: number;
}

/** What a config.json that does not hold a setting means. */
export const USUAL = DEFAULTS as unknown as DecodeConfig;

type Rule = (name: string, value: unknown) => void;

const RULES: Record<string, Rule> = Object.fromEntries(
  DECODING.map((setting) => [
    setting.name,
    (name, value) => {
      if (value !== null || !setting.empty) check(setting, name, value);
    },
  ]),
);

/** `settings` over what the checkpoint is best decoded with. */
export function decodeConfig(usual: DecodeConfig, settings: object): DecodeConfig {
  for (const [name, value] of Object.entries(settings)) {
    if (!Object.hasOwn(RULES, name)) throw new Refusal(`unknown setting '${name}'`);
    RULES[name]!(name, value);
  }
  return { ...usual, ...settings };
}
