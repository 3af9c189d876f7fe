/* What a page may ask its worker, and what comes back. Nothing here runs in either by itself. */

import type { Packing, Health, Kind, Piece, StepPayload, TracePayload } from "../protocol/messages";
import type { Foreign } from "./foreign";

/** The views of the lab that the worker answers; the others need Python. */
export const ANSWERED = ["force", "edit", "beams"] as const;

/** Every call: what it is given and what it gives in the end. */
export interface Calls {
  /** Fetch a checkpoint, or find that it is here. */
  load: { given: { direction: string }; gives: { bytes: number } };
  /** Read a checkpoint into memory if all of it is kept here; nothing is fetched for that. */
  recall: { given: { direction: string }; gives: object };
  /** Translate; every step comes as a message before. */
  stream: {
    given: { direction: string; text: string; settings: object; prefix?: number[] };
    gives: TracePayload;
  };
  inspect: {
    given: { direction: string; text: string };
    gives: Health & { split: Piece[][] } & Foreign;
  };
  /** A translation that was made, again with exact weights, or as a file of the Python package. */
  exact: { given: Past; gives: TracePayload };
  npz: { given: Past; gives: Uint8Array };
  /** What a checkpoint adds to the vectors of its source tokens, [positions, width]. */
  positions: { given: { direction: string }; gives: { table: Float32Array; width: number } };
  board: { given: LabAsked & { kind: Kind }; gives: object };
  switch: { given: LabAsked & { gates: Partial<Record<Kind, number[][]>> }; gives: object };
  view: { given: LabAsked & { view: string; options: Record<string, unknown> }; gives: object };
}

/** A translation that was made before; it is made again where it is not kept any more. */
export interface Past {
  direction: string;
  text: string;
  settings: object;
  id?: string;
  prefix?: number[];
  encoding?: Packing;
}

export interface LabAsked {
  direction: string;
  text: string;
}

export type Name = keyof Calls;

/**
 * From the page: a call under a number of its own, or the number of one that is not wanted any
 * more.
 */
export type Request =
  { id: number; name: Name; given: Calls[Name]["given"]; site: string } | { cancel: number };

/** From the worker, by the number of the call. */
export type Reply = { id: number } & (
  | { kind: "progress"; received: number; size: number }
  | { kind: "step"; value: StepPayload }
  | { kind: "done"; value: unknown }
  /** In words for a person; `again` says whether asking once more may help. */
  | { kind: "refused"; text: string; again: boolean }
  | { kind: "cancelled" }
);
