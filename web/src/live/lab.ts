/* Heads switched off one by one, and a translation with the gates a person set:
   analysis/interventions.py, ui/lab.py. */

import type { Kind, Role } from "../protocol/messages";
import { KINDS } from "../protocol/messages";
import type { Bundle } from "./bundle";
import { importance } from "./engine/importance";
import type { Gates } from "./engine/passes";
import type { HeadMap } from "./figures";
import { headStats, leadingHead } from "./messages/heads";
import type { Request } from "./request";
import { wholeWords } from "./text/segment";
import type { Token } from "./text/tokenizer";
import { translate, type Trace } from "./trace";

/** Run a translation to its end. */
export function whole(bundle: Bundle, request: Request, gates: Gates = {}): Trace {
  const steps = translate(bundle, request, gates);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Layers and heads of a kind of attention. */
export function headCounts(bundle: Bundle, kind: Kind): [layers: number, heads: number] {
  const { config } = bundle.model;
  return kind === "encoder"
    ? [config.encoder_layers, config.encoder_heads]
    : [config.decoder_layers, config.decoder_heads];
}

/**
 * The cross head that aligned best over a corpus, or else the one that links this sentence best.
 */
export function leading({ profile }: Bundle, trace: Trace): [layer: number, head: number] {
  const heads = trace.cross.shape[1];
  const rates = profile?.rates ?? [];
  const best = rates.indexOf(Math.min(...rates));
  if (best >= 0) return [Math.floor(best / heads), best % heads];
  const { src, tgt } = trace;
  const queries = readsOf(trace);
  return leadingHead(headStats("cross", trace.cross, { owners: tgt, queries, keys: src }), heads);
}

/** The map of one head with its tokens; what lies in the future is left empty. */
export function headOf(trace: Trace, kind: Kind, layer: number, head: number): HeadMap {
  const { values, shape } = trace[kind];
  const [, H, Q, K] = shape;
  const from = (layer * H + head) * Q * K;
  const weights = Array.from({ length: Q }, (_, i) =>
    Array.from({ length: K }, (_, j) =>
      kind === "decoder" && j > i ? null : values[from + i * K + j]!,
    ),
  );
  const texts = (tokens: readonly Token[]) => tokens.map(({ surface }) => surface);
  const queries = texts(kind === "encoder" ? trace.src : readsOf(trace));
  const keys = kind === "decoder" ? queries : texts(trace.src);
  return { weights, queries, keys, predicts: kind === "encoder" ? null : texts(trace.tgt) };
}

function readsOf({ start, tgt }: Trace): Token[] {
  return [start, ...tgt.slice(0, -1)];
}

/**
 * Each head's role [L][H]: over a corpus if the checkpoint has a profile, else in this sentence.
 */
export function roles(bundle: Bundle, trace: Trace, kind: Kind): Role[][] {
  const reads = readsOf(trace);
  const owners = { encoder: trace.src, decoder: reads, cross: trace.tgt }[kind];
  const keys = kind === "decoder" ? reads : trace.src;
  const queries = kind === "encoder" ? trace.src : reads;
  const measured = () => headStats(kind, trace[kind], { owners, queries, keys }).role;
  const flat = bundle.profile?.roles[kind] ?? measured();
  const [layers, heads] = headCounts(bundle, kind);
  return Array.from({ length: layers }, (_, l) => flat.slice(l * heads, (l + 1) * heads));
}

/**
 * Δ log-probability in nats [L][H] and role of every head of one kind; yields between layers, to be
 * stopped there.
 */
export function* board(bundle: Bundle, trace: Trace, kind: Kind): Generator<void, object> {
  const values: number[][] = [];
  const ids = trace.tgt.map(({ id }) => id);
  for (const row of importance(bundle.model, trace.request.srcIds, ids, kind)) {
    values.push(row);
    yield;
  }
  return { kind, values, roles: roles(bundle, trace, kind) };
}

/** The translation with every head on and with `gates` [L][H], and the word links of each. */
export function switched(
  bundle: Bundle,
  before: Trace,
  given: Partial<Record<Kind, number[][]>>,
): object {
  const gates: Gates = {};
  for (const kind of KINDS) if (given[kind]) gates[kind] = Float32Array.from(given[kind]!.flat());
  const after = whole(bundle, before.request, gates);
  const ids = before.tgt.map(({ id }) => id);
  const { model } = bundle;
  const fixed = model.heap.scoped(() => {
    const { logProbs } = model.decode(model.encode(before.request.srcIds, gates), ids, gates);
    return ids.reduce((sum, id, t) => sum + logProbs[t * model.config.tgt_vocab + id]!, 0);
  });
  const chosen = aligning(bundle, before);
  const left = chosen.map((each, at) => each && (gates.cross?.[at] ?? 1) > 0);
  return {
    source: wordsOf(before.request.encoding.normalised.text, bundle.info.src),
    before: side(bundle, before, chosen),
    after: side(bundle, after, left),
    first: fixed,
    change: fixed - scoreOf(before),
  };
}

/** Summed log-probability of what was produced, in nats. */
export function scoreOf(trace: Trace): number {
  return trace.thoughts.reduce((sum, { logProb }) => sum + logProb, 0);
}

/** Which cross heads align, flat; the best one if no head has the role, else all. */
function aligning(bundle: Bundle, trace: Trace): boolean[] {
  const chosen = roles(bundle, trace, "cross")
    .flat()
    .map((role) => role === "aligns");
  const rates = bundle.profile?.rates ?? [];
  if (!chosen.includes(true) && rates.length) chosen[rates.indexOf(Math.min(...rates))] = true;
  return chosen.includes(true) ? chosen : chosen.map(() => true);
}

function wordsOf(text: string, language: string): string[] {
  return wholeWords(text, language).map(([start, end]) => text.slice(start, end));
}

function side(bundle: Bundle, trace: Trace, heads: readonly boolean[]): object {
  const found = wordsOf(trace.translation, bundle.info.tgt);
  const source = wordsOf(trace.request.encoding.normalised.text, bundle.info.src);
  const [T, S] = trace.cross.shape.slice(2) as [number, number];
  const mean = new Float64Array(T * S);
  const count = heads.filter(Boolean).length;
  heads.forEach((chosen, head) => {
    if (chosen)
      for (let i = 0; i < T * S; i++) mean[i]! += trace.cross.values[head * T * S + i]! / count;
  });
  const links = wordMap(mean, trace.tgt, trace.src, [found.length, source.length]);
  return {
    text: trace.translation,
    words: found,
    score: scoreOf(trace),
    links: links.map((row) => row.map((value) => Number(value.toFixed(3)))),
  };
}

/**
 * A map of words [target][source] from one of tokens [T, S]: sums over keys, means over queries, no
 * special tokens.
 */
function wordMap(
  weights: Float64Array,
  tgt: readonly Token[],
  src: readonly Token[],
  [rows, columns]: readonly [number, number],
): number[][] {
  const pieces = new Array<number>(rows).fill(0);
  for (const { word, special } of tgt) if (!special) pieces[word]!++;
  const map = pieces.map(() => new Array<number>(columns).fill(0));
  tgt.forEach((target, t) =>
    src.forEach((source, s) => {
      if (target.special || source.special) return;
      map[target.word]![source.word]! += weights[t * src.length + s]! / pieces[target.word]!;
    }),
  );
  return map;
}
