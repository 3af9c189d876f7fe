/* What the lab asks for and is told. `translator/ui/lab.py` and `lab_views.py` make it. */

import type { Kind, Role } from "./messages";
import type { Answer } from "./server";

/** One thing to fill in; `translator/registry/lab.py` says them all. */
export interface LabField {
  name: string;
  label: string;
  kind: "choice" | "number" | "range" | "text";
  choices?: string[];
  low?: number;
  high?: number;
  step?: number | "any";
  /** null: the server chooses. */
  value: string | number | null;
}

/** What a visitor would ask, and the views that answer it. */
export interface LabQuestion {
  name: string;
  title: string;
  views: LabView[];
}

/** What answers a question. */
export interface LabView {
  name: string;
  title: string;
  /** What it shows, and what it does not. */
  says: string;
  source: string;
  fields: LabField[];
  /** What answers first, with less. */
  soon?: string;
}

/** Change of log p, in nats, when one head alone is silent: [layer][head]. */
export interface Board {
  kind: Kind;
  values: number[][];
  roles: Role[][];
}

interface Side {
  text: string;
  words: string[];
  /** Weights between words, [target][source] before and after alike. */
  links: number[][];
  /** Log-probability, in nats. */
  score: number;
}

/** The translation with all heads on and with some gated. */
export interface Change {
  source: string[];
  before: Side;
  after: Side;
  /** Log-probability of the first translation by the gated model. */
  first: number;
  change: number;
}

/** Word links by a head or a layer, beside links of one's own. */
export interface Alignment {
  source: string[];
  target: string[];
  /** [target][source]. */
  words: number[][];
  links: [source: number, target: number][];
  gold: [source: number, target: number][];
}

/** An English sentence and what stands in its holes. */
export type Line = [english: string, values: Record<string, string | number>];

export interface LabAnswer {
  lines?: Line[];
  figures?: string[];
  captions?: string[];
  table?: { head: string[]; rows: string[][] };
  /** What a click on a row of the first figure chooses. */
  picks?: string[];
  /** A click on a cell of the first figure chooses it. */
  cells?: boolean;
  ribbons?: Alignment;
  /** Lines of which one is shown at a time. */
  slides?: Line[];
  /**
   * A view that is asked for with all cells that are taken, in `field`; `cells` of each figure:
   * [row][column].
   */
  follow?: { view: string; field: string; cells: unknown[][][] };
  /** What was taken where nothing was chosen. */
  chosen?: Record<string, string | number>;
  error?: string;
}

/** How much of a run is done, and of how much; nothing where nobody knows. */
export interface Progress {
  done?: number;
  all?: number;
}

/** What every answer tells of the translation that it is about. */
export interface About {
  id?: string;
  translation?: string;
}

/** What every request names. */
export interface LabRequest {
  text: string;
  direction: string;
  id: string | null;
  /** Ids of the translation that it is about; null: what the model says greedily. */
  target: number[] | null;
  /** By which it can be stopped. */
  run: string;
}

export interface LabServer {
  lab_board(request: LabRequest & { kind: Kind }): Promise<Answer<Board> & About>;
  lab_switch(
    request: LabRequest & { gates: Partial<Record<Kind, number[][]>> },
  ): Promise<Answer<Change> & About>;
  lab_ask(
    request: LabRequest & { view: string; options: Record<string, unknown> },
  ): Promise<LabAnswer & About>;
  lab_stop(request: { run: string }): Promise<unknown>;
  /** How far a run is, where it knows; not there where no server is. */
  lab_progress?(request: { run: string }): Promise<Progress>;
}
