/* Beam search over one source: the bookkeeping of decode/beam.py, ranking and stopping as in
   transformers' generate. */

import { Refusal } from "../refusal";
import type { DecodeConfig } from "./config";
import type { Names } from "./names";
import { extend, type Beam, type Hypothesis, type Produced } from "./steps";

/** A possible next token of a hypothesis that lives: which one, the token, its log-probability. */
export type Candidate = readonly [parent: number, id: number, logProb: number];

/**
 * What a score is divided by: ((5 + length) / 6)^alpha (Wu et al. 2016, section 7), or
 * length^alpha.
 */
export function penalty(length: number, config: DecodeConfig): number {
  const base = config.penalty_kind === "wu" ? (5 + length) / 6 : length;
  return base ** config.length_penalty;
}

/** The least attention that counts: the logarithm of none is endless. */
const UNREAD = 1e-9;

/**
 * What a score loses for source tokens that were not read: beta times the sum of log min(attention,
 * 1) (equation 14).
 */
export function covered(hypothesis: Hypothesis, config: DecodeConfig): number {
  if (!config.coverage_penalty) return 0;
  const logs = (hypothesis.coverage ?? []).map((each) =>
    Math.log(Math.min(Math.max(each, UNREAD), 1)),
  );
  return config.coverage_penalty * logs.reduce((a, b) => a + b, 0);
}

/**
 * The attention that counts as coverage: the mean of cross [L, H, S] over the heads named, of the
 * first `count` tokens.
 */
export function attentionPaid(
  cross: Float32Array,
  shape: readonly [layers: number, heads: number],
  config: DecodeConfig,
  count: number,
): number[] {
  const [layers, heads] = shape;
  const width = cross.length / (layers * heads);
  const every = Array.from({ length: layers * heads }, (_, i) => i);
  const rows = config.coverage_heads?.map(([layer, head]) => {
    if (layer < layers && head < heads) return layer * heads + head;
    throw new Refusal(
      `coverage_heads holds [${layer}, ${head}]; this decoder has ${layers} layers of ${heads} heads, from 0`,
    );
  });
  const chosen = rows ?? every;
  return Array.from(
    { length: count },
    (_, s) => chosen.reduce((sum, row) => sum + cross[row * width + s]!, 0) / chosen.length,
  );
}

/** The hypotheses of one sentence: those that live, and the `beam` best of those that ended. */
export class BeamSearch {
  live: Hypothesis[];
  ended: Hypothesis[] = [];
  /** For each that lives, the one before the step that it grew from. */
  parents: number[] = [0];
  /** The one before the step that the leading hypothesis grew from. */
  leader = 0;
  /** What the last step considered, best first. */
  beams: Beam[] = [];
  done = false;
  private places = [0];

  constructor(
    private readonly config: DecodeConfig,
    private readonly eosId: number,
    private readonly maxLength: number,
    prefix: Hypothesis,
    private readonly names: Names | null = null,
    private readonly toCover = 0,
  ) {
    this.live = [prefix];
  }

  /** Whether the next token is the last that the limit allows, and has to be the end token. */
  get forced(): boolean {
    return this.config.force_eos && this.live[0]!.ids.length === this.maxLength - 1;
  }

  /** The one id that may come next, counted 0 in the score; null where any may. */
  get onlyId(): number | null {
    if (this.config.first_id !== null && !this.live[0]!.ids.length) return this.config.first_id;
    return this.forced ? this.eosId : null;
  }

  /** The score after all penalties, by which hypotheses are ranked. */
  normalised(hypothesis: Hypothesis): number {
    const { score, ids } = hypothesis;
    const ofLength = score / penalty(ids.length, this.config);
    return ofLength + covered(hypothesis, this.config) - this.missing(hypothesis);
  }

  /** What it loses for names: over the source's length, as a longer one would else lose less. */
  private missing({ missing }: Hypothesis): number {
    return (missing ?? 0) / penalty(Math.max(this.toCover, 1), this.config);
  }

  /** The score by which a step ranks what goes on with it, unless it spells a name. */
  total({ score, ids }: Hypothesis): number {
    return score - (this.names?.unspelt(ids) ?? 0);
  }

  /** The best that ended; one that hit the length limit ended there. */
  best(): Hypothesis {
    return this.ended.reduce((a, b) => (this.normalised(b) > this.normalised(a) ? b : a));
  }

  /**
   * Take one step; `candidates` come best total first, `produced` says how one came about, `read`
   * is each row's attention where coverage counts.
   */
  grow(
    candidates: readonly Candidate[],
    produced: (parent: number, id: number) => Produced,
    read?: readonly (readonly number[])[],
  ): void {
    const live: Hypothesis[] = [];
    const [parents, places, beams]: [number[], number[], Beam[]] = [[], [], []];
    const forced = this.forced;
    candidates.forEach(([parent, id, logProb], rank) => {
      const how = produced(parent, id);
      const grown = extend(this.live[parent]!, id, logProb, how, read?.[parent]);
      const hypothesis = this.names ? { ...grown, missing: this.names.missing(grown.ids) } : grown;
      const ended = id === this.eosId;
      if (ended || hypothesis.ids.length === this.maxLength) {
        if (rank >= this.config.beam) return; // or bad short ends would fill the list
        this.ended.push({ ...hypothesis, truncated: !ended || forced });
      } else if (live.length < this.config.beam) {
        live.push(hypothesis);
        parents.push(parent);
        places.push(beams.length);
      } else return;
      const { ids, score } = hypothesis;
      const normalised = this.normalised(hypothesis);
      beams.push({ ids, score, normalised, parent: this.places[parent]!, ended });
    });
    this.leader = candidates[0]![0];
    Object.assign(this, { live, parents, beams, places });
    this.ended.sort((a, b) => this.normalised(b) - this.normalised(a));
    this.ended.length = Math.min(this.ended.length, this.config.beam);
    this.done = this.finished();
  }

  /**
   * Nothing lives, or nothing that lives could still push an ended hypothesis out, though it read
   * all of its source.
   */
  private finished(): boolean {
    if (!this.live.length) return true;
    if (this.ended.length < this.config.beam) return false;
    if (this.config.early_stopping === true) return true;
    const longest = this.config.early_stopping === "never" && this.config.length_penalty > 0;
    const first = this.live[0]!;
    const length = longest ? this.maxLength : first.ids.length;
    const bound = first.score / penalty(length, this.config) - this.missing(first);
    return bound <= this.normalised(this.ended.at(-1)!);
  }
}
