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
  type Ranked,
  type Produced,
  type Reading,
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
    return yield* end(model, cache, asked, ended);
  return ended;
}

/** Say whether the end was reached. */
function close(hypothesis: Hypothesis, eos: number): Hypothesis {
  return { ...hypothesis, truncated: hypothesis.ids.at(-1) !== eos };
}

/** Of log-probabilities [V], as many of the best as a step shows or chooses among. */
function rankedOf(logProbs: Float32Array, { config }: Search): Ranked[] {
  const chosen = config.method === "beam" ? 2 * config.beam : 1;
  return best(logProbs, Math.max(config.candidates, chosen));
}

/** What row `row` of the last step thought and read. */
function readingOf(
  model: Transformer,
  cache: Cache,
  ranked: readonly Ranked[],
  { config }: Search,
  row = 0,
): Reading {
  return {
    entropy: model.entropy(cache, row),
    candidates: ranked.slice(0, config.candidates),
    ...model.rowsRead(cache, row),
  };
}

/** Log-probabilities [V], -Infinity where a token must not follow `ids`. */
function allowed(
  model: Transformer,
  { config, spans }: Search,
  logProbs: Float32Array,
  ids: readonly number[],
): Float32Array {
  const out = logProbs.slice();
  for (const id of [...bannedIds(model.config), ...bannedNext(model.config, config, ids)])
    out[id] = -Infinity;
  banSpans(out, spans, ids);
  return out;
}

/**
 * The `count` best that may follow `ids`: of `ranked`, the best of all, if each of them may, and
 * else of all that may.
 */
function bestAllowed(
  model: Transformer,
  asked: Search,
  logProbs: Float32Array,
  ids: readonly number[],
  ranked: readonly Ranked[],
  count: number,
): Ranked[] {
  const { config, spans } = asked;
  const usual = [...bannedIds(model.config), ...bannedNext(model.config, config, ids)];
  const banned = [usual, spans?.forbidden(ids) ?? []];
  const may = ([id]: Ranked) => banned.every((each) => !each.includes(id));
  const first = ranked.slice(0, count);
  return first.every(may) ? first : best(allowed(model, asked, logProbs, ids), count);
}

/** A hypothesis by itself as a step. */
function step({ ids, produced }: Hypothesis, beams: readonly Beam[] = []): IdStep {
  return { ids, produced: produced.at(-1)!, beams };
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
    const reading = readingOf(model, cache, rankedOf(logProbs, asked), asked);
    const produced = { ...reading, logProb: logProbs[id]! };
    const counted = free ? 0 : produced.logProb;
    hypothesis = extend(hypothesis, id, counted, produced, paid(model, asked, [reading])?.[0]);
    last = id;
    const { ids, score } = hypothesis;
    const normalised = score / penalty(ids.length, config) + covered(hypothesis, config);
    const beam = { ids, score, normalised, parent: 0, ended: id === model.config.eos_id };
    yield step(hypothesis, config.method === "beam" ? [beam] : []);
  }
  return hypothesis;
}

/** Greedy search or sampling: one hypothesis, each token chosen from its own distribution. */
function* oneByOne(
  model: Transformer,
  cache: Cache,
  asked: Search,
  hypothesis: Hypothesis,
  maxLength: number,
): Steps {
  const { config } = asked;
  const draw = config.method === "sample" ? sampler(config) : null;
  const { eos_id, start_id } = model.config;
  while (hypothesis.ids.at(-1) !== eos_id && hypothesis.ids.length < maxLength) {
    const { ids } = hypothesis;
    const logProbs = model.step([ids.at(-1) ?? start_id], cache);
    const ranked = rankedOf(logProbs, asked);
    const chosen = () =>
      draw?.(allowed(model, asked, logProbs, ids)) ??
      bestAllowed(model, asked, logProbs, ids, ranked, 1)[0]![0];
    const id = (ids.length ? null : config.first_id) ?? chosen();
    const logProb = logProbs[id]!;
    const produced = { ...readingOf(model, cache, ranked, asked), logProb };
    hypothesis = extend(hypothesis, id, logProb, produced);
    yield step(hypothesis);
  }
  return close(hypothesis, eos_id);
}

/** Produce the end token at the length limit, whatever the model thinks of it. */
function* end(model: Transformer, cache: Cache, asked: Search, hypothesis: Hypothesis): Steps {
  const { eos_id, start_id } = model.config;
  const logProbs = model.step([hypothesis.ids.at(-1) ?? start_id], cache);
  const reading = readingOf(model, cache, rankedOf(logProbs, asked), asked);
  const ended = extend(hypothesis, eos_id, 0, { ...reading, logProb: logProbs[eos_id]! });
  yield step(ended);
  return { ...ended, truncated: true };
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
    const { tgt_vocab: vocab } = model.config;
    const rows = ids.map((_, row) => all.subarray(row * vocab, (row + 1) * vocab));
    const ranked = rows.map((logProbs) => rankedOf(logProbs, asked));
    const readings = ranked.map((each, row) => readingOf(model, cache, each, asked, row));
    const produced = (row: number, id: number): Produced => ({
      ...readings[row]!,
      logProb: rows[row]![id]!,
    });
    beams.grow(
      candidates(model, rows, ranked, beams, asked),
      produced,
      paid(model, asked, readings),
    );
    const leading = beams.beams[0]!.ids;
    const last = produced(beams.leader, leading.at(-1)!);
    yield { ids: leading, produced: last, beams: beams.beams };
    if (beams.done) break;
    model.reorder(cache, beams.parents);
    ids = beams.live.map((hypothesis) => hypothesis.ids.at(-1)!);
  }
  return beams.best();
}

/**
 * The attention that each row paid to each source token but the end; nothing where none counts.
 */
function paid(
  model: Transformer,
  { config, srcIds }: Search,
  readings: readonly Reading[],
): number[][] | undefined {
  if (config.method !== "beam" || !config.coverage_penalty) return undefined;
  const shape = [model.config.decoder_layers, model.config.decoder_heads] as const;
  return readings.map(({ cross }) => attentionPaid(cross, shape, config, srcIds.length - 1));
}

/**
 * The best continuations, best total first: twice the beam, so that enough are left when half of
 * them end.
 */
function candidates(
  model: Transformer,
  rows: readonly Float32Array[],
  ranked: readonly (readonly Ranked[])[],
  beams: BeamSearch,
  asked: Search,
): Candidate[] {
  const { config, spans } = asked;
  const found: [number, number, number, number][] = [];
  beams.live.forEach((hypothesis, parent) => {
    const only = beams.onlyId;
    const base = Math.fround(beams.total(hypothesis));
    if (only !== null) {
      found.push([parent, only, 0, base]);
      return;
    }
    const [row, { ids }] = [rows[parent]!, hypothesis];
    const gains = new Map(spans?.names?.gains(ids));
    const may = gains.size ? allowed(model, asked, row, ids) : row;
    const spelt = [...gains.keys()].map((id) => [id, may[id]!] as const);
    const first = bestAllowed(model, asked, row, ids, ranked[parent]!, 2 * config.beam);
    const others = first.filter(([id]) => !gains.has(id));
    for (const [id, logProb] of [...others, ...spelt]) {
      const total = Math.fround(logProb + base) + (gains.get(id) ?? 0);
      if (total > -Infinity) found.push([parent, id, logProb, total]);
    }
  });
  found.sort((a, b) => b[3] - a[3]);
  return found.slice(0, 2 * config.beam).map(([parent, id, logProb]) => [parent, id, logProb]);
}
