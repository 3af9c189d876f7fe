/* Maps of several heads at once. */

import { type Sentence, t } from "../i18n/words";
import type { Kind, Place } from "../protocol/messages";
import type { Translation } from "./translation";

/** What of a state says which map is shown. */
export interface Choice {
  kind: Kind;
  layer: number;
  head: number;
  view: string;
  aggregate: string;
  /** Heads chosen by hand; none: the one above. */
  overlay: Place[];
}

/** Each aggregate and what it is called. */
export const AGGREGATES: [value: string, name: Sentence][] = [
  ["layer-mean", "mean of the layer"],
  ["layer-max", "maximum of the layer"],
  ["head-mean", "mean of this head over layers"],
  ["head-max", "maximum of this head over layers"],
  ["all-mean", "mean of all heads"],
  ["all-max", "maximum of all heads"],
  ["chosen-mean", "mean of chosen heads"],
  ["chosen-max", "maximum of chosen heads"],
  ["rollout", "rollout (encoder)"],
  ["alti", "ALTI+"],
];

/** Each aggregate and its name in the page's language; ALTI+ only where it can be had. */
export const aggregates = (contributes: boolean): [value: string, name: string][] =>
  AGGREGATES.filter(([value]) => contributes || value !== "alti").map(([value, name]) => [
    value,
    t(name),
  ]);

export const aggregateName = (aggregate: string): string =>
  t(AGGREGATES.find(([value]) => value === aggregate)![1]);

/** The heads that an aggregate is made of. */
export const aggregateHeads = (
  trace: Translation,
  state: Omit<Choice, "view" | "aggregate">,
  which: string,
): Place[] => {
  const { kind, layer, head, overlay } = state;
  const { layers, heads } = trace.maps[kind];
  const all: Place[] = [];
  for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) all.push([l, h]);
  if (which === "layer") return all.filter(([l]) => l === layer);
  if (which === "head") return all.filter(([, h]) => h === head);
  return which === "chosen" ? (overlay.length ? overlay : [[layer, head]]) : all;
};

/** The map that a state shows, row by row: one head's, or an aggregate of several. */
export const mapOf = (trace: Translation, state: Choice): Float32Array => {
  const { kind, layer, head, view, aggregate } = state;
  if (view !== "aggregate") return trace.head(kind, layer, head);
  if (aggregate === "rollout" && kind === "encoder") return trace.rolled;
  if (aggregate === "alti") {
    const { rows, columns } = trace.maps[kind];
    return trace.contributions?.[kind] ?? new Float32Array(rows * columns); // empty until it comes
  }
  const [which, how] = aggregate === "rollout" ? ["layer", "mean"] : aggregate.split("-");
  return trace.combined(kind, aggregateHeads(trace, state, which), how);
};

const ALIKE = 0.1;

/**
 * Whether the rows of a square map are nearly the same: on average less than a tenth from their
 * mean (total variation).
 */
export const rowsAlike = (map: Float32Array, size: number): boolean => {
  const mean = Array.from({ length: size }, (_, j) => {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += map[i * size + j];
    return sum / size;
  });
  let apart = 0;
  map.forEach((weight, at) => (apart += Math.abs(weight - mean[at % size]) / 2 / size));
  return apart < ALIKE;
};
