/* The lab's further questions that a live page answers: a forced target, an edit, the beams.
   ui/lab_views.py. */

import type { Kind } from "../protocol/messages";
import { labField } from "../protocol/registry";
import type { Bundle } from "./bundle";
import type { ANSWERED } from "./calls";
import { check } from "./check";
import type { Beam } from "./decode/steps";
import { headCounts, headOf, leading, scoreOf, whole } from "./lab";
import { candidatesFigure, confidenceFigure, mapFigure, treeFigure } from "./figures";
import { plain } from "./messages/label";
import { Refusal } from "./refusal";
import { makeRequest, targetIds } from "./request";
import { force, type Trace } from "./trace";

/** An answer as the lab shows it: lines are [English sentence, values for its {holes}]. */
export interface Answer {
  lines?: [string, Record<string, string | number>][];
  table?: { head: string[]; rows: string[][] };
  figures?: string[];
  /** What the figures show. */
  captions?: string[];
  picks?: string[];
  /** What was taken where nothing was chosen. */
  chosen?: Record<string, number>;
}

type Asked = Record<string, unknown>;

type View = (bundle: Bundle, trace: Trace, asked: Asked) => Answer;

/** What the page with a server shows besides. */
export function view(bundle: Bundle, trace: Trace, name: string, asked: Asked): Answer {
  const known = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  if (!known)
    throw new Refusal(
      "This view needs the page with a server: python -m translator serve shows it.",
    );
  return known(bundle, trace, asked);
}

const VIEWS: Record<string, View> & Record<(typeof ANSWERED)[number], View> = {
  force: forceView,
  edit: editView,
  beams: beamsView,
};

function forceView(bundle: Bundle, trace: Trace, asked: Asked): Answer {
  const ids = targetIds(bundle, read("force", "target", asked) as string);
  const request = makeRequest(bundle, trace.request.source, { method: "greedy" });
  const found = force(bundle, request, ids);
  const { model } = bundle;
  const ranks = model.heap.scoped(() => {
    const { logProbs } = model.decode(model.encode(request.srcIds), ids);
    const V = model.config.tgt_vocab;
    return ids.map((id, t) => {
      const row = logProbs.subarray(t * V, (t + 1) * V);
      return 1 + row.reduce((count, value) => count + Number(value > row[id]!), 0);
    });
  });
  const [given, chosen] = [scoreOf(found), scoreOf(trace)];
  const same = trace.tgt.map(({ id }) => id).join() === ids.join();
  const verdict = same
    ? "This is what the model chooses itself."
    : given > chosen
      ? "Search error: the model finds yours more probable, but the search missed it."
      : "Model error, if yours is right: the model finds its own more probable.";
  const scores = { given: minus(given), chosen: minus(chosen), text: trace.translation };
  return {
    lines: [
      ["Yours: log p {given}. The model's own: {text} ({chosen}).", scores],
      [verdict, {}],
    ],
    table: table(
      ["token", "log p", "rank"],
      found.tgt.map((token, t) => [
        token.surface,
        minus(found.thoughts[t]!.logProb),
        String(ranks[t]),
      ]),
    ),
    ...forcedFigures(bundle, found, asked),
  };
}

/** How probable the forced tokens are, and, if that was asked, what one head looks at meanwhile. */
function forcedFigures(bundle: Bundle, found: Trace, asked: Asked): Answer {
  const kind = read("force", "kind", asked) as Kind | "none";
  const { figures } = bundle;
  const drawn = figures && {
    figures: [
      confidenceFigure(
        figures,
        found.thoughts,
        found.tgt.map(({ surface }) => surface),
      ),
    ],
    captions: ["How probable the model finds each of your tokens"],
  };
  if (kind === "none") return drawn ?? {};
  const [layers, heads] = headCounts(bundle, kind);
  const [layer, head] = kind === "cross" ? leading(bundle, found) : [0, 0];
  const chosen = {
    layer: (read("force", "layer", asked, layers) ?? layer + 1) as number,
    head: (read("force", "head", asked, heads) ?? head + 1) as number,
  };
  const map = figures && mapFigure(figures, headOf(found, kind, chosen.layer - 1, chosen.head - 1));
  return {
    ...(drawn && {
      figures: [...drawn.figures, map!],
      captions: [...drawn.captions, "What the chosen head looks at meanwhile"],
    }),
    chosen,
  };
}

function editView(bundle: Bundle, trace: Trace, asked: Asked): Answer {
  const at = (read("edit", "step", asked, trace.tgt.length) as number) - 1;
  const wanted = read("edit", "choice", asked) as string;
  const candidates = trace.thoughts[at]!.candidates.map(([id, logProb]) => ({
    id,
    surface: bundle.tgt.token(id).surface,
    probability: Math.exp(logProb),
  }));
  const answer = {
    table: table(
      ["candidate", "probability"],
      candidates.map(({ surface, probability }) => [surface, probability.toFixed(3)]),
    ),
    picks: candidates.map(({ surface }) => surface),
    ...(bundle.figures && {
      figures: [
        candidatesFigure(bundle.figures, trace.thoughts[at]!, trace.tgt[at]!.id, surfaceOf(bundle)),
      ],
      captions: ["Click a candidate to put it there"],
    }),
  };
  const known = candidates.find(({ surface }) => surface === wanted.trim());
  const runnerUp = candidates.find(({ id }) => id !== trace.tgt[at]!.id)!;
  const put = wanted.trim() ? (known ? [known.id] : bundle.tgt.ids(wanted)) : [runnerUp.id];
  const before = trace.tgt.slice(0, at).map(({ id }) => id);
  const prefix = [...before, ...put];
  const request = makeRequest(bundle, trace.request.source, { method: "greedy" }, prefix);
  return { ...answer, lines: both(trace, whole(bundle, request)) };
}

function beamsView(bundle: Bundle, trace: Trace, asked: Asked): Answer {
  const own = bundle.decode;
  const { low = 0, high = 0 } = labField("beams", "beam");
  const widest = Math.min(Math.max(own.beam, low), high);
  const beam = (read("beams", "beam", asked) ?? widest) as number;
  const length_penalty = (read("beams", "penalty", asked) ?? own.length_penalty) as number;
  const { source } = trace.request;
  const request = makeRequest(bundle, source, { method: "beam", beam, length_penalty });
  const found = whole(bundle, request);
  const ends = found.thoughts
    .flatMap(({ beams }) => beams)
    .filter(({ ended }) => ended)
    .sort((a, b) => b.normalised - a.normalised);
  const ids = found.tgt.map(({ id }) => id);
  const won = ids.join();
  const steps = found.thoughts.map(({ beams }) => beams);
  return {
    chosen: { beam, penalty: length_penalty },
    lines: [
      ["Beam: {text} (log p {score})", { text: found.translation, score: minus(scoreOf(found)) }],
      ["Greedy: {text} (log p {score})", { text: trace.translation, score: minus(scoreOf(trace)) }],
      [
        "The search kept {all} hypotheses at some step; {pruned} of them were pruned later.",
        { all: steps.flat().length, pruned: prunedOf(steps) },
      ],
    ],
    table: table(
      ["hypothesis", "log p", "after the penalty", "fate"],
      ends.map(({ ids, score, normalised }) => [
        bundle.tgt.decode(ids),
        minus(score),
        minus(normalised),
        ids.join() === won ? "won" : "ended",
      ]),
    ),
    ...(bundle.figures && {
      figures: [treeFigure(bundle.figures, steps, ids, surfaceOf(bundle))],
    }),
  };
}

/** How many hypotheses neither ended nor grew, those of the last step aside. */
function prunedOf(steps: readonly (readonly Beam[])[]): number {
  return steps.slice(0, -1).reduce((sum, beams, step) => {
    const parents = new Set(steps[step + 1]!.map(({ parent }) => parent));
    return sum + beams.filter(({ ended }, at) => !ended && !parents.has(at)).length;
  }, 0);
}

function surfaceOf({ tgt }: Bundle): (id: number) => string {
  return (id) => tgt.token(id).surface;
}

/** Two translations as lines. */
function both(before: Trace, after: Trace): [string, Record<string, string>][] {
  const said = (trace: Trace) => ({ text: trace.translation, score: minus(scoreOf(trace)) });
  return [
    ["Before: {text} (log p {score})", said(before)],
    ["After: {text} (log p {score})", said(after)],
  ];
}

function table(head: string[], rows: string[][]): { head: string[]; rows: string[][] } {
  return { head, rows: rows.map((row) => row.map((cell) => plain(cell))) };
}

/** A number as it is shown, with a real minus sign. */
function minus(value: number): string {
  return value.toFixed(2).replace("-", "−");
}

/** What was asked of a field; its own default, or null, where nothing was: `Field.read`. */
function read(view: string, name: string, asked: Asked, high?: number): unknown {
  const field = labField(view, name);
  const own = field.kind === "text" || field.kind === "choice" ? field.value : null;
  const value = asked[name] ?? own;
  if (value !== null || field.value !== null) check(field, name, value, high);
  return value;
}
