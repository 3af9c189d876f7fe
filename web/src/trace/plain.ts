/* The translation that is shown as plain arrays: for tests and the curious. */

import { KINDS } from "../protocol/messages";
import type { Maps, Translation } from "./translation";

type Nested = number[] | Nested[];

/** [layers][heads][rows][columns]. */
const nested = ({ layers, heads, rows, columns, values }: Maps): Nested[] =>
  Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_, h) =>
      Array.from({ length: rows }, (_, i) => {
        const from = ((l * heads + h) * rows + i) * columns;
        return Array.from(values.subarray(from, from + columns));
      }),
    ),
  );

/** null while nothing is whole; maps are copied when they are read. */
export const plainTrace = (trace: Translation | null | undefined): object | null => {
  if (!trace || !trace.heads) return null;
  const plain = {
    source: trace.source,
    direction: trace.direction,
    translation: trace.translation,
    checkpoint: trace.checkpoint,
    settings: trace.settings,
    own: trace.own,
    leading: trace.leading,
    src: trace.src.map(({ s, i }) => ({ text: s, id: i })),
    tgt: trace.tgt.map(({ s, i }) => ({ text: s, id: i })),
    log_probs: trace.steps.map(({ lp }) => lp),
    candidates: trace.steps.map(({ c }) =>
      c.map(({ s, i, lp }) => ({ text: s, id: i, log_prob: lp })),
    ),
    hypotheses: trace.steps.map(({ b }) => (b ?? []).map(({ s, n }) => ({ text: s, score: n }))),
    roles: Object.fromEntries(KINDS.map((kind) => [kind, trace.heads![kind].role])),
  };
  for (const kind of KINDS) {
    const get = () => nested(trace.maps[kind]!);
    Object.defineProperty(plain, kind, { enumerable: true, get });
  }
  return plain;
};
