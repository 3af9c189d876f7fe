/* What every search knows: hypotheses, what must not be chosen, and the best of a distribution.
   decode/steps.py. */

import type { ModelConfig } from "../engine/config";
import { Refusal } from "../refusal";
import type { DecodeConfig } from "./config";

/**
 * Produced ids (the end token last unless `truncated`) and their log-probabilities in nats, with
 * their sum.
 */
export interface Hypothesis {
  ids: readonly number[];
  logProbs: readonly number[];
  /** How each of them came about. */
  produced: readonly Produced[];
  score: number;
  truncated: boolean;
  /** The attention that each source token has had, where the search counts it. */
  coverage?: readonly number[];
  /** What it loses for names of the source, in nats. */
  missing?: number;
}

/** What a hypothesis thought and read at a step, whatever it was continued with. */
export interface Reading {
  /** Of the distribution, in nats. */
  entropy: number;
  /** The most probable tokens, as many as a translation tells. */
  candidates: readonly Ranked[];
  /** The rows it read by, over its own tokens [L, H, T] and over the source [L, H, S]. */
  own: Float32Array;
  cross: Float32Array;
}

/** The same of a token, with its log-probability in nats, whatever it counted in the score. */
export interface Produced extends Reading {
  logProb: number;
}

export const NOTHING: Hypothesis = {
  ...{ ids: [], logProbs: [], produced: [] },
  ...{ score: 0, truncated: false },
};

/**
 * A hypothesis with one more token, which counts `logProb`; `read` is the attention that its step
 * paid to each source token.
 */
export function extend(
  hypothesis: Hypothesis,
  id: number,
  logProb: number,
  produced: Produced,
  read?: readonly number[],
): Hypothesis {
  const before = hypothesis.coverage;
  return {
    ...(read && { coverage: read.map((each, i) => each + (before?.[i] ?? 0)) }),
    ids: [...hypothesis.ids, id],
    logProbs: [...hypothesis.logProbs, logProb],
    produced: [...hypothesis.produced, produced],
    score: hypothesis.score + logProb,
    truncated: false,
  };
}

/** One hypothesis that a step considered; see trace.py's Beam. */
export interface Beam {
  ids: readonly number[];
  score: number;
  normalised: number;
  parent: number;
  ended: boolean;
}

/** One step of a search: what leads after it, and how its last token came about. */
export interface IdStep {
  /** The leading hypothesis up to and with this step. */
  ids: readonly number[];
  produced: Produced;
  beams: readonly Beam[];
}

/** A candidate and its log-probability in nats. */
export type Ranked = readonly [id: number, logProb: number];

/** The `count` largest of `values`, best first; among equals the first. */
export function best(values: Float32Array, count: number): Ranked[] {
  const found: [number, number][] = [];
  let least = -Infinity;
  for (let id = 0; id < values.length; id++) {
    const value = values[id]!;
    if (found.length === count && !(value > least)) continue;
    let at = found.length;
    while (at > 0 && found[at - 1]![1] < value) at--;
    found.splice(at, 0, [id, value]);
    if (found.length > count) found.pop();
    least = found.at(-1)![1];
  }
  return found;
}

/** What a search must not choose: what the config names, or else padding and the start token. */
export function bannedIds(config: ModelConfig): number[] {
  const usual = [config.pad_id, config.start_id].filter((id) => id !== config.eos_id);
  return config.banned_ids ?? usual;
}

/**
 * What would end too early or complete a banned or repeated sequence after `ids`, as in
 * transformers.
 */
export function bannedNext(
  config: ModelConfig,
  decode: DecodeConfig,
  ids: readonly number[],
): number[] {
  const whole = [config.start_id, ...ids];
  const out: number[] = ids.length < (config.min_length ?? 0) ? [config.eos_id] : [];
  for (const sequence of config.banned_sequences) {
    const before = sequence.slice(0, -1);
    if (endsWith(whole, before)) out.push(sequence.at(-1)!);
  }
  const size = decode.no_repeat_ngram_size;
  if (size) {
    const latest = whole.slice(Math.max(whole.length - size + 1, 0));
    for (let end = size - 1; end < whole.length; end++)
      if (same(whole.slice(end - size + 1, end), latest)) out.push(whole[end]!);
  }
  return out;
}

function endsWith(whole: readonly number[], end: readonly number[]): boolean {
  return whole.length >= end.length && same(whole.slice(whole.length - end.length), end);
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** Refuse a source that the model cannot read. */
export function checkSource(config: ModelConfig, srcIds: readonly number[]): void {
  const longest = config.padded_length ?? config.max_positions;
  if (!(srcIds.length >= 1 && srcIds.length <= longest))
    throw new Refusal(`the source has ${srcIds.length} tokens; this model reads 1 to ${longest}`);
}

/** Refuse a length, or a forced prefix or target (called `name`), that the model cannot produce. */
export function checkTarget(
  config: ModelConfig,
  ids: readonly number[],
  maxLength: number,
  name = "prefix",
): void {
  if (!(maxLength >= 1 && maxLength <= config.max_positions))
    throw new Refusal(
      `the target may have ${maxLength} tokens; this model produces 1 to ${config.max_positions}`,
    );
  if (ids.length > maxLength)
    throw new Refusal(
      `the ${name} has ${ids.length} tokens, but at most ${maxLength} are to be produced`,
    );
  if (ids.slice(0, -1).includes(config.eos_id))
    throw new Refusal(`the ${name} goes on after its end-of-sentence token; end it there`);
  for (const banned of bannedIds(config))
    if (ids.includes(banned))
      throw new Refusal(
        `the ${name} holds id ${banned}, which is padding or the start token; leave it out`,
      );
}
