/* What the server sends, as it travels: `translator/ui/payload.py` makes it, a test on each side
   holds it to stored examples. */

/** The three attentions of a Transformer. */
export type Kind = "encoder" | "decoder" | "cross";
export const KINDS: readonly Kind[] = ["encoder", "decoder", "cross"];

/** What a head mostly does. */
export type Role = "aligns" | "previous" | "same" | "next" | "sink" | "diffuse" | "mixed";

export interface Token {
  /** As it is shown. */
  s: string;
  /** Its id in the vocabulary. */
  i: number;
  /** Flags: SPECIAL, UNKNOWN, SPACE, PUNCTUATION. */
  f: number;
  /** The word that it belongs to; -1: none. */
  w: number;
  /** Its real surface, where that is not what is shown. */
  r?: string;
}

/** A token that a step weighed up; `lp` is its log-probability, in nats. */
export interface Candidate extends Token {
  lp: number;
}

/** A hypothesis of a beam search at a step. */
export interface Hypothesis {
  /** The end of its text. */
  s: string;
  /** Its log-probability, in nats. */
  lp: number;
  /** Its score after the length penalty. */
  n: number;
  /** The number of the hypothesis that it grew from. */
  p: number;
  /** 1: it ended here. */
  e?: 1;
  /** 1: the translation begins with it. */
  w?: 1;
  /** 1: a better one has the same text, in other subwords. */
  x?: 1;
}

export interface Step {
  /** Log-probability of the chosen token, in nats. */
  lp: number;
  /** Entropy of the distribution, in nats. */
  h: number;
  c: Candidate[];
  b?: Hypothesis[];
}

/** The word group of each token, and what each group reads as. */
export interface Words {
  g: number[];
  s: string[];
}

/** A word of a Chinese translation, for who does not read it. */
export interface GlossWord {
  /** Its first and its last token. */
  t: number;
  u: number;
  s: string;
  /** Pinyin; "": nothing of it is Chinese. */
  p: string;
  /** What a glossary says of it, in the source language; "": nothing. */
  d: string;
}

export interface Checkpoint {
  name: string;
  sha256: string;
  src: string;
  tgt: string;
}

export type Method = "greedy" | "beam" | "sample";

export interface Settings {
  method: Method;
  beam: number;
  length_penalty: number;
  temperature: number;
  top_k: number | null;
  top_p: number | null;
  seed: number;
  max_length: number | null;
  candidates?: number;
}

/** What each head of a kind does in one sentence, head by head, layer by layer. */
export interface HeadTable {
  role: Role[];
  /**
   * Of the heads that are "mixed": the role that they come closest to, if it is near. Older pages
   * have none.
   */
  near?: (Role | "")[];
  /**
   * How much of the head its role, or the nearest, describes: of rows, of weight, of ln n; 0 where
   * there is neither.
   */
  share: number[];
  /** Of the heads that align, or nearly: what a row belongs to. */
  reading: (Reading | "")[];
  entropy: number[];
  confidence: number[];
  distance: number[];
  special: number[];
  punctuation: number[];
}

/**
 * What a cross row belongs to: "output", the token that it predicts; "input", the one that it
 * reads.
 */
export type Reading = "output" | "input";

/** What the heads do over a corpus; `rates` are alignment error rates of the cross heads. */
export interface Profile {
  data: string;
  sentences: number;
  roles: Partial<Record<Kind, Role[]>>;
  /** Each by its better reading; empty: they were not measured. */
  rates: number[];
  readings?: Reading[];
}

/** What a model makes of a text. */
export interface Health {
  words: number;
  tokens: number;
  limit: number;
  unknown: number;
  bytes?: number;
  changed: number;
  normalised: string;
  /** The sentence with which the text will be refused; "": it will not be. */
  problem: string;
}

/** A piece of a word as the model reads it; `u`: it is unknown. */
export interface Piece {
  s: string;
  u?: number;
}

/** Heads by their place: [layer, head]. */
export type Place = [layer: number, head: number];

/** Layers, heads, rows (queries), columns (keys). */
export type Shape = [layers: number, heads: number, rows: number, columns: number];

/** "u16": 16-bit fixed point; "d4": four decimals; "f32": exact. */
export type Encoding = "u16" | "d4" | "f32";

/** What a page's own worker packs. */
export type Packing = Exclude<Encoding, "d4">;

/** A word that is marked, and the tokens that it is made of. */
export interface Marked {
  s: string;
  /** From 0 to 1. */
  score: number;
  ids: number[];
}

/**
 * Source words that nothing seems to rest on, produced words that seem to rest on nothing, and what
 * a mark is worth.
 */
export interface Marks {
  src: Marked[];
  tgt: Marked[];
  /**
   * Of 1: words tampered with that are marked, others that are; null: nobody measured it for this
   * checkpoint.
   */
  rates: Record<"src" | "tgt", { found: number; wrong: number }> | null;
}

/** Of one kind, the maps that came with their translation, and what stands for the others. */
export interface Parts {
  /** Each map as `weights` would hold it. */
  heads: [layer: number, head: number, map: Uint8Array][];
  /**
   * The largest weight w of each block of `pool` × `pool` cells as round(√w · 15), a byte each,
   * head by head.
   */
  small?: Uint8Array;
  pool?: number;
}

export interface TracePayload {
  kind: "trace";
  source: string;
  normalised: string;
  translation: string;
  checkpoint: Checkpoint;
  settings: Settings;
  truncated: boolean;
  /** null: it was stored, not timed. */
  seconds: number | null;
  src: Token[];
  start: Token;
  tgt: Token[];
  words: { src: Words; reads: Words; tgt: Words };
  steps: Step[];
  shapes: Record<Kind, Shape>;
  encoding: Encoding;
  /**
   * In base64; of a notebook, as bytes; of the page's own worker, as numbers; empty where it has
   * `parts`.
   */
  weights: Record<Kind, string | Uint8Array | Float32Array>;
  /**
   * Of a long one in a notebook: the maps that came along; the others come when they are looked at.
   */
  parts?: Record<Kind, Parts>;
  /**
   * The share of each kind's weight on special tokens, where it was counted before the maps were
   * sent.
   */
  shares?: Record<Kind, number>;
  rollout: string | Float32Array;
  heads: Record<Kind, HeadTable>;
  /** The cross head that aligns best. */
  leading: { layer: number; head: number };
  health: Health;
  profile?: Profile;
  /** It was decoded as the checkpoint is decoded best, with no setting of a visitor's. */
  automatic?: boolean;
  /** The kinds that there are maps of, where that is not all three. */
  kinds?: Kind[];
  /** false: probabilities and candidates are not known, as of arrays from elsewhere. */
  scored?: false;
  /** How the checkpoint decodes by itself. */
  own?: Settings;
  /** Of a Chinese translation that a server made. */
  gloss?: GlossWord[];
  /** Ids that it was made to begin with. */
  prefix?: number[];
  /** By which the server finds it again. */
  id?: string;
  direction?: string;
  run?: number;
}

/**
 * One step of a translation that is being written. It says by itself where it stands, so that some
 * may be missed.
 */
export interface StepPayload {
  kind: "step";
  index: number;
  checkpoint: Pick<Checkpoint, "name" | "src" | "tgt">;
  /** Of the steps so far, in nats. */
  log_probs: number[];
  src: Token[];
  start: Token;
  tgt: Token[];
  step: Step;
  /** Layers, heads, keys. */
  shape: [layers: number, heads: number, columns: number];
  cross: string;
  translation: string;
  run?: number;
}

/** What an explorer is told. */
export type Message =
  | TracePayload
  | StepPayload
  | { kind: "error"; text: string; run?: number }
  | { kind: "waiting"; text: string; run?: number }
  | { kind: "example"; id: string }
  | { kind: "empty"; text: string };
