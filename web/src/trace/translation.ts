/* One translation as the server sent it, and the slices that every view is made of. */

import { floatsOf, fromTriangles } from "../protocol/decode";
import {
  type Checkpoint,
  type GlossWord,
  type HeadTable,
  type Health,
  KINDS,
  type Kind,
  type Marks,
  type Parts,
  type Place,
  type Profile,
  type Settings,
  type Step,
  type Token,
  type TracePayload,
  type Words,
} from "../protocol/messages";
import { unfold } from "./parts";

/** Every map of one kind; `values` is [layers, heads, rows, columns], flat. */
export interface Maps {
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  values: Float32Array;
}

/** What one head does in this sentence. */
export type Stats = { [Name in keyof HeadTable]: NonNullable<HeadTable[Name]>[number] };

const unpacked = (payload: TracePayload, kind: Kind): Maps => {
  const [layers, heads, rows, columns] = payload.shapes[kind];
  const shape = { layers, heads, rows, columns };
  if (payload.parts) {
    const maps = { ...shape, values: new Float32Array(layers * heads * rows * columns) };
    unfold(payload.parts[kind], maps);
    return maps;
  }
  const sent = floatsOf(payload.weights[kind], payload.encoding);
  const values = kind === "decoder" ? fromTriangles(sent, layers * heads, rows) : sent;
  return { ...shape, values };
};

/** Of each kind, which heads' maps are there: 1 a head, layer by layer. */
const arrivedOf = (maps: Record<Kind, Maps>): Record<Kind, Uint8Array> =>
  Object.fromEntries(
    Object.entries(maps).map(([kind, { layers, heads }]) => [kind, new Uint8Array(layers * heads)]),
  ) as Record<Kind, Uint8Array>;

export class Translation {
  readonly source: string;
  readonly normalised: string;
  readonly translation: string;
  readonly checkpoint: Checkpoint;
  readonly direction: string;
  readonly settings: Settings;
  readonly automatic: boolean;
  readonly own?: Settings;
  readonly truncated: boolean;
  readonly seconds: number | null;
  readonly src: Token[];
  readonly start: Token;
  tgt: Token[];
  /** What each step reads: the start, then the target without its last token. */
  reads: Token[];
  steps: Step[];
  /**
   * A translation that is being written has no words, heads, health or profile yet, and maps of
   * cross attention alone.
   */
  readonly words?: { src: Words; reads: Words; tgt: Words };
  readonly heads?: Record<Kind, HeadTable>;
  readonly health?: Health;
  readonly profile?: Profile;
  readonly gloss?: GlossWord[];
  readonly leading: { layer: number; head: number };
  readonly encoding: TracePayload["encoding"];
  readonly id?: string;
  /** Ids that it was made to begin with. */
  readonly prefix: number[];
  maps: Record<Kind, Maps>;
  /** Rollout of the encoder, [S, S]. */
  readonly rolled: Float32Array;
  readonly live: boolean = false;
  /** What may have been left out and invented, once it is known. */
  marks?: Marks;
  /** ALTI+ through all layers, the map of each kind, once it was asked for. */
  contributions?: Record<Kind, Float32Array>;
  /**
   * The kinds that there are maps of; of a translation that is being written, those that there will
   * be.
   */
  readonly kinds: readonly Kind[];
  /** Whether probabilities and candidates are known. */
  readonly scored: boolean;
  /** The share of each kind's weight on special tokens, where whoever sent it has counted. */
  readonly shares?: Record<Kind, number>;
  /**
   * Which maps have come, where not all came at once; of the others there are small pictures at
   * most.
   */
  private readonly come: Record<Kind, Uint8Array> | null;

  constructor(payload: TracePayload) {
    const { checkpoint } = payload;
    this.source = payload.source;
    this.normalised = payload.normalised;
    this.translation = payload.translation;
    this.checkpoint = checkpoint;
    this.direction = payload.direction ?? `${checkpoint.src}-${checkpoint.tgt}`;
    this.settings = payload.settings;
    this.automatic = !!payload.automatic;
    this.own = payload.own;
    this.truncated = payload.truncated;
    this.seconds = payload.seconds;
    this.src = payload.src;
    this.start = payload.start;
    this.tgt = payload.tgt;
    this.reads = [payload.start, ...payload.tgt.slice(0, -1)];
    this.steps = payload.steps;
    this.words = payload.words;
    this.heads = payload.heads;
    this.health = payload.health;
    this.profile = payload.profile;
    this.gloss = payload.gloss;
    this.leading = payload.leading;
    this.encoding = payload.encoding;
    this.id = payload.id;
    this.prefix = payload.prefix ?? [];
    this.kinds = payload.kinds ?? KINDS;
    this.scored = payload.scored !== false;
    const maps = this.kinds.map((kind) => [kind, unpacked(payload, kind)]);
    this.maps = Object.fromEntries(maps) as Record<Kind, Maps>;
    this.rolled = floatsOf(payload.rollout, payload.encoding);
    this.shares = payload.shares;
    this.come = payload.parts ? arrivedOf(this.maps) : null;
    for (const [kind, { heads }] of Object.entries(payload.parts ?? {}) as [Kind, Parts][])
      for (const [layer, head, map] of heads) this.put(kind, [[layer, head]], map);
  }

  /** Whether every map is there. */
  get whole(): boolean {
    return !this.come;
  }
  /** Whether the map of a head is there, not only its small picture. */
  has(kind: Kind, layer: number, head: number): boolean {
    return !this.come || !!this.come[kind][layer * this.maps[kind].heads + head];
  }
  /** The maps of some heads have come, one after the other. */
  put(kind: Kind, places: readonly Place[], sent: Uint8Array): void {
    const { heads, rows, columns, values } = this.maps[kind];
    const floats = floatsOf(sent, this.encoding);
    const maps = kind === "decoder" ? fromTriangles(floats, places.length, rows) : floats;
    const size = rows * columns;
    places.forEach(([layer, head], n) => {
      const place = layer * heads + head;
      values.set(maps.subarray(n * size, (n + 1) * size), place * size);
      this.come![kind][place] = 1;
    });
  }

  queries(kind: Kind): Token[] {
    return kind === "encoder" ? this.src : this.reads;
  }
  keys(kind: Kind): Token[] {
    return kind === "decoder" ? this.reads : this.src;
  }

  /** One head's map, row by row in one Float32Array. */
  head(kind: Kind, layer: number, head: number): Float32Array {
    const { heads, rows, columns, values } = this.maps[kind];
    const size = rows * columns;
    const from = (layer * heads + head) * size;
    return values.subarray(from, from + size);
  }

  /** What one head does here; null while the translation is being written. */
  stats(kind: Kind, layer: number, head: number): Stats | null {
    if (!this.heads) return null;
    const at = layer * this.maps[kind].heads + head;
    const table = Object.entries(this.heads[kind]).map(([name, values]) => [name, values[at]]);
    return Object.fromEntries(table) as Stats;
  }

  /** Mean or maximum over chosen heads. */
  combined(kind: Kind, chosen: readonly Place[], how: string): Float32Array {
    const { rows, columns } = this.maps[kind];
    const result = new Float32Array(rows * columns);
    for (const [layer, head] of chosen) {
      const map = this.head(kind, layer, head);
      for (let i = 0; i < map.length; i++)
        result[i] =
          how === "max" ? Math.max(result[i], map[i]) : result[i] + map[i] / chosen.length;
    }
    return result;
  }

  /** Which row of `kind` belongs to a step, or to a source token. */
  rowOf(kind: Kind, state: { query: number; step: number }): number {
    return kind === "encoder" ? state.query : state.step;
  }
}
