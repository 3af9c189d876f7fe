/* Search for one translation over ids, one step at a time: decode/search.py. */

import type { Cache, Encoded, Gates } from "../engine/passes";
import type { Transformer } from "../engine/transformer";
import { attentionPaid, BeamSearch, covered, penalty, type Candidate } from "./beam";
import type { DecodeConfig } from "./config";
import { banSpans, type SourceSpans } from "./copying";
import { generator } from "./random";
import {
  bannedIds,
  bannedNext,
  best,
  checkTarget,
  extend,
  NOTHING,
  type Beam,
  type Hypothesis,
  type IdStep,
} from "./steps";

export type Steps = Generator<IdStep, Hypothesis>;

/**
 * What a search is asked: `maxLength` counts produced tokens, the end token too; the target begins
 * with `prefix`, and holds to `spans`.
 */
export interface Search {
  config: DecodeConfig;
  srcIds: readonly number[];
  maxLength: number;
  prefix: readonly number[];
  gates: Gates;
  spans: SourceSpans | null;
}

/**
 * Decode one source; yields a step a token, returns the hypothesis that won. A beam of 1 is greedy
 * search.
 */
export function* search(model: Transformer, encoded: Encoded, asked: Search): Steps {
  const { config, maxLength, prefix } = asked;
  checkTarget(model.config, prefix, maxLength);
  const eos = model.config.eos_id;
  const beams = config.method === "beam" && config.beam > 1;
  const cache = model.start(encoded, maxLength, beams ? config.beam : 1, asked.gates);
  const forced = yield* force(model, cache, asked);
  if (forced.ids.length && (forced.ids.at(-1) === eos || forced.ids.length === maxLength))
    return close(forced, eos);
  if (beams) return yield* byBeam(model, cache, asked, forced);
  const room = maxLength - Number(config.force_eos);
  const ended = yield* oneByOne(model, cache, asked, forced, room);
  if (ended.ids.length === maxLength - 1 && ended.truncated && config.force_eos)
    return yield* end(model, cache, ended);
  return ended;
}

/** Say whether the end was reached. */
function close(hypothesis: Hypothesis, eos: number): Hypothesis {
  return { ...hypothesis, truncated: hypothesis.ids.at(-1) !== eos };
}

function step(
  model: Transformer,
  cache: Cache,
  ids: readonly number[],
  logProbs: Float32Array,
  row = 0,
  beams: readonly Beam[] = [],
): IdStep {
  const read = model.rowsRead(cache, row);
  return { ids, logProbs, entropy: model.entropy(cache, row), ...read, beams };
}

/** Produce the prefix, whatever the model thinks of it. */
function* force(model: Transformer, cache: Cache, asked: Search): Steps {
  const { config, prefix } = asked;
  let hypothesis = NOTHING;
  let last = model.config.start_id;
  for (const id of prefix) {
    const logProbs = model.step([last], cache);
    // What every translation begins with is no choice.
    const free = !hypothesis.ids.length && id === config.first_id;
    const counted = free ? 0 : logProbs[id]!;
    hypothesis = extend(hypothesis, id, counted, paid(model, cache, asked, 1)?.[0]);
    last = id;
    const { ids, score } = hypothesis;
    const normalised = score / penalty(ids.length, config) + covered(hypothesis, config);
    const beam = { ids, score, normalised, parent: 0, ended: id === model.config.eos_id };
    yield step(model, cache, ids, logProbs, 0, config.method === "beam" ? [beam] : []);
  }
  return hypothesis;
}

/** Greedy search or sampling: one hypothesis, each token chosen from its own distribution. */
function* oneByOne(
  model: Transformer,
  cache: Cache,
  { config, spans }: Search,
  hypothesis: Hypothesis,
  maxLength: number,
): Steps {
  const choose = config.method === "sample" ? sampler(config) : mostProbable;
  const never = bannedIds(model.config);
  const { eos_id, start_id } = model.config;
  while (hypothesis.ids.at(-1) !== eos_id && hypothesis.ids.length < maxLength) {
    const logProbs = model.step([hypothesis.ids.at(-1) ?? start_id], cache);
    const allowed = logProbs.slice();
    for (const id of [...never, ...bannedNext(model.config, config, hypothesis.ids)])
      allowed[id] = -Infinity;
    banSpans(allowed, spans, hypothesis.ids);
    const first = hypothesis.ids.length ? null : config.first_id;
    const id = first ?? choose(allowed);
    hypothesis = extend(hypothesis, id, logProbs[id]!);
    yield step(model, cache, hypothesis.ids, logProbs);
  }
  return close(hypothesis, eos_id);
}

/** Produce the end token at the length limit, whatever the model thinks of it. */
function* end(model: Transformer, cache: Cache, hypothesis: Hypothesis): Steps {
  const { eos_id, start_id } = model.config;
  const logProbs = model.step([hypothesis.ids.at(-1) ?? start_id], cache);
  const ended = extend(hypothesis, eos_id, 0);
  yield step(model, cache, ended.ids, logProbs);
  return { ...ended, truncated: true };
}

function mostProbable(logProbs: Float32Array): number {
  return best(logProbs, 1)[0]![0];
}

/** Draw by temperature, then top-k, then top-p (Holtzman et al. 2020): one seed, one text. */
function sampler(config: DecodeConfig): (logProbs: Float32Array) => number {
  const random = generator(config.seed);
  return (logProbs) => {
    const count = config.top_k || logProbs.length;
    const order = Array.from(logProbs, (value, id) => [id, value / config.temperature] as const)
      .sort((a, b) => b[1] - a[1])
      .slice(0, count);
    const weights = order.map(([, value]) => Math.exp(value - order[0]![1]));
    const total = weights.reduce((a, b) => a + b, 0);
    let before = 0;
    // The most probable is always left.
    const kept = weights.filter((weight) => {
      const keep = before < config.top_p * total;
      before += weight;
      return keep;
    });
    let left = random() * kept.reduce((a, b) => a + b, 0);
    const drawn = kept.findIndex((weight) => (left -= weight) < 0);
    return order[drawn < 0 ? kept.length - 1 : drawn]![0];
  };
}

/** Beam search; each step shows what leads at that moment. */
function* byBeam(model: Transformer, cache: Cache, asked: Search, prefix: Hypothesis): Steps {
  const { config, maxLength, spans, srcIds } = asked;
  const { eos_id: eos, start_id } = model.config;
  const names = spans?.names ?? null;
  const beams = new BeamSearch(config, eos, maxLength, prefix, names, srcIds.length - 1);
  let ids = [prefix.ids.at(-1) ?? start_id];
  while (!beams.done) {
    const all = model.step(ids, cache);
    const read = paid(model, cache, asked, ids.length);
    beams.grow(candidates(model, all, beams, asked), read);
    const vocab = model.config.tgt_vocab;
    const leader = all.subarray(beams.leader * vocab, (beams.leader + 1) * vocab);
    yield step(model, cache, beams.beams[0]!.ids, leader, beams.leader, beams.beams);
    if (beams.done) break;
    model.reorder(cache, beams.parents);
    ids = beams.live.map((hypothesis) => hypothesis.ids.at(-1)!);
  }
  return beams.best();
}

/**
 * The attention that each of the first `rows` rows paid to each source token but the end; nothing
 * where none counts.
 */
function paid(
  model: Transformer,
  cache: Cache,
  asked: Search,
  rows: number,
): number[][] | undefined {
  const { config, srcIds } = asked;
  if (config.method !== "beam" || !config.coverage_penalty) return undefined;
  const shape = [model.config.decoder_layers, model.config.decoder_heads] as const;
  return Array.from({ length: rows }, (_, row) =>
    attentionPaid(model.rowsRead(cache, row).cross, shape, config, srcIds.length - 1),
  );
}

/**
 * The best continuations, best total first: twice the beam, so that enough are left when half of
 * them end.
 */
function candidates(
  model: Transformer,
  all: Float32Array,
  beams: BeamSearch,
  { config, spans }: Search,
): Candidate[] {
  const { tgt_vocab: vocab } = model.config;
  const never = bannedIds(model.config);
  const found: [number, number, number, number][] = [];
  beams.live.forEach((hypothesis, parent) => {
    const only = beams.onlyId;
    if (only !== null) {
      found.push([parent, only, 0, Math.fround(beams.total(hypothesis))]);
      return;
    }
    const allowed = all.slice(parent * vocab, (parent + 1) * vocab);
    for (const id of [...never, ...bannedNext(model.config, config, hypothesis.ids)])
      allowed[id] = -Infinity;
    banSpans(allowed, spans, hypothesis.ids);
    const base = Math.fround(beams.total(hypothesis));
    const gains = new Map(spans?.names?.gains(hypothesis.ids));
    const spelt = [...gains.keys()].map((id) => [id, allowed[id]!] as const);
    const others = best(allowed, 2 * config.beam).filter(([id]) => !gains.has(id));
    for (const [id, logProb] of [...others, ...spelt]) {
      const total = Math.fround(logProb + base) + (gains.get(id) ?? 0);
      if (total > -Infinity) found.push([parent, id, logProb, total]);
    }
  });
  found.sort((a, b) => b[3] - a[3]);
  return found.slice(0, 2 * config.beam).map(([parent, id, logProb]) => [parent, id, logProb]);
}
