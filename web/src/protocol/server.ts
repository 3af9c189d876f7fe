/* What a page may ask its server for. Each answer may be a refusal instead. */

import type { Health, Kind, Marks, Piece, Place, Settings, TracePayload } from "./messages";

/** Why there is no answer, as a sentence for the visitor. */
export interface Refusal {
  error: string;
  /** Whether it helps to ask once more. */
  again?: boolean;
}
export type Answer<T> = T | Refusal;

export const refused = (answer: object): answer is Refusal => "error" in answer && !!answer.error;

/** A translation that the server finds again by its id, or makes again. */
export interface TraceRequest {
  text: string;
  direction: string;
  /** What is not said is as the checkpoint does it. */
  settings: Partial<Settings>;
  id?: string;
  /** Ids that it begins with. */
  prefix?: number[];
}

export interface FileAnswer {
  base64: string;
  /** Media type. */
  type: string;
}

/** Health of a text that is not translated yet; `split`: every word in pieces. */
export type Inspection = Health & { split?: Piece[][]; error?: string };

/** Codes that a checkpoint translates from and to, and the two that it is set to by itself. */
export interface Languages {
  src: string[];
  tgt: string[];
  own: [src: string, tgt: string];
}

export interface Readiness {
  /** "ready", "loading", or why the model will not come. */
  state: string;
  /** Of a checkpoint that has many, once it is there. */
  languages?: Languages;
}

export interface ExplorerServer {
  /** A link to what is shown would lead nowhere: the page holds more than this. */
  readonly unlinked?: boolean;
  inspect(request: { text: string; direction: string }): Promise<Inspection>;
  /** The same translation with 32-bit weights. */
  exact(request: TraceRequest): Promise<Answer<TracePayload>>;
  /**
   * Of a translation that has parts: the maps of some heads, one after the other, packed as it
   * says.
   */
  maps?(kind: Kind, places: readonly Place[]): Promise<Uint8Array>;
  /** The translation that begins with `prefix`. */
  resume(request: TraceRequest): Promise<Answer<TracePayload>>;
  npz(request: TraceRequest): Promise<Answer<FileAnswer>>;
  offline(request: TraceRequest): Promise<Answer<FileAnswer>>;
  /** What may have been left out and invented; not there where no server is. */
  left_out?(request: TraceRequest): Promise<Answer<Marks>>;
  /** ALTI+ through all layers, as "f32": the map of each kind. */
  alti?(request: TraceRequest): Promise<Answer<Record<Kind, string>>>;
  /** Whether nobody answers any more; else the page asks at its own address. */
  gone?(): Promise<boolean>;
  ready(request: { direction: string }): Promise<Readiness>;
}
