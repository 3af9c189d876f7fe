/* The row in which a head does what its role says. */

import { PUNCTUATION, SPECIAL } from "../protocol/flags";
import type { Kind, Place, Role, Token } from "../protocol/messages";
import type { Translation } from "./translation";

/**
 * How much a row does of a role, and whether it does it at all; roles.ts and analysis/roles.py say
 * how rows count.
 */
interface Done {
  much: number;
  does: boolean;
}

const DIFFUSE = 0.8; // of the greatest entropy: the bar of the role itself
const CLEAR = 0.5; // of a row's weight on one word: who sees it has no doubt

const BESIDE: Partial<Record<Role, number>> = { previous: -1, same: 0, next: 1 };

const isSpecial = ({ f }: Token): boolean => !!(f & SPECIAL);
const isContent = ({ f }: Token): boolean => !(f & (SPECIAL | PUNCTUATION));

/** A row of `weights`, of which it may see them all, by its number `row`. */
const done = (role: Role, weights: Float32Array, row: number, keys: readonly Token[]): Done => {
  const best = weights.indexOf(Math.max(...weights));
  const beside = BESIDE[role];
  if (beside !== undefined)
    return { much: weights[row + beside] ?? -1, does: best === row + beside };
  if (role === "diffuse") {
    const nats = weights.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);
    const much = nats / Math.log(Math.max(weights.length, 2));
    return { much, does: much >= DIFFUSE };
  }
  if (role === "sink")
    return {
      much: weights.reduce((sum, p, key) => sum + (isContent(keys[key]) ? 0 : p), 0),
      does: !isContent(keys[best]),
    };
  const much = isContent(keys[best]) ? weights[best] : -1;
  return { much, does: much >= CLEAR };
};

/** Whether the role is counted by this row. */
const counts = (trace: Translation, kind: Kind, role: Role, reading: string, row: number) => {
  if (role === "aligns") return isContent((reading === "input" ? trace.reads : trace.tgt)[row]);
  return !isSpecial((kind === "cross" ? trace.tgt : trace.queries(kind))[row]);
};

/**
 * The row in which a head does most of what `role` says, of those where it does it at all, or the
 * row `present` where it does that, too.
 */
export const roleRow = (
  trace: Translation,
  kind: Kind,
  [layer, head]: Place,
  role: Role,
  present: number,
): number => {
  if (role === "mixed") return present;
  const { rows, columns } = trace.maps[kind];
  const map = trace.head(kind, layer, head);
  const keys = trace.keys(kind);
  const reading = trace.stats(kind, layer, head)?.reading ?? "";
  const of = (row: number): Done => {
    if (!counts(trace, kind, role, reading, row)) return { much: -1, does: false };
    const visible = kind === "decoder" ? row + 1 : columns;
    return done(role, map.subarray(row * columns, row * columns + visible), row, keys);
  };
  if (of(present).does) return present;
  const all = Array.from({ length: rows }, (_, row) => of(row));
  const fit = all.some(({ does }) => does) ? all.map((row) => (row.does ? row.much : -1)) : null;
  const much = fit ?? all.map((row) => row.much);
  const most = much.indexOf(Math.max(...much));
  return much[most] < 0 ? present : most;
};

/** `roleRow` as a choice of the view, of which `now` are the present ones. */
export const inRoleRow = (
  trace: Translation,
  kind: Kind,
  place: Place,
  role: Role,
  now: { step: number; query: number },
): { query: number } | { step: number } => {
  const row = roleRow(trace, kind, place, role, trace.rowOf(kind, now));
  return kind === "encoder" ? { query: row } : { step: row };
};
