/* The state of an explorer at first, and what of a wished-for one a translation can show. */

import type { Kind, Place, Role } from "../protocol/messages";
import { AGGREGATES } from "../trace/aggregate";
import type { Specials, Unit } from "../trace/picture";
import type { Translation } from "../trace/translation";
import type { Palette } from "../design/scales";

/** A cell of the picture that is shown. */
export interface Cell {
  i: number;
  j: number;
}

/** What is chosen and pointed at. Indices count from 0. */
export interface View {
  kind: Kind;
  layer: number;
  head: number;
  step: number;
  /** The source token that is the query of the encoder's maps. */
  query: number;
  view: "heatmap" | "arcs" | "aggregate";
  unit: Unit;
  scale: "linear" | "root" | "row";
  palette: Palette;
  specials: Specials;
  /** Hidden specials: whether rows are scaled to sum to 1 again. */
  renormalise: boolean;
  labels: "both" | "reads" | "predicts";
  tile: "map" | "row";
  sort: "layer" | "entropy" | "confidence" | "distance" | "special" | "punctuation";
  /** The role whose heads are marked among all. */
  role: Role | null;
  aggregate: string;
  overlay: Place[];
  pins: { rows: number[]; columns: number[] };
  /** Arcs: the present row alone. */
  only: boolean;
  hover: Cell | null;
  /** The large map is shown whole, however small its cells are. */
  fit: boolean;
  /** Weights are written into the cells that have room for them. */
  numbers: boolean;
  /** Large maps and letters, few controls: for a room full of people. */
  presenting: boolean;
  /** The tokens of the cell that was clicked last: its row and its column. */
  cell: [row: number, column: number] | null;
  /** A chip that is pointed at. */
  peek: { side: "src" | "tgt"; id: number } | null;
  playing: boolean;
}

export const FIRST_STATE: View = {
  kind: "cross",
  layer: 0,
  head: 0,
  step: 0,
  query: 1,
  view: "heatmap",
  unit: "sub",
  scale: "linear",
  palette: "house",
  specials: "shown",
  renormalise: false,
  labels: "both",
  tile: "map",
  sort: "layer",
  role: null,
  aggregate: "layer-mean",
  overlay: [],
  pins: { rows: [], columns: [] },
  only: false,
  fit: false,
  numbers: false,
  presenting: false,
  hover: null,
  cell: null,
  peek: null,
  playing: false,
};

/** What of the state decides which map is shown, and in which colours. */
export const MAP_KEYS = ["trace", "kind", "layer", "head", "view", "aggregate", "overlay"];
export const COLOUR_KEYS = ["scale", "palette", "theme"];

/** What a link may wish for; it may hold anything. */
export type Wish = Partial<Record<keyof View, string | number | null | undefined>>;

/** The part of a wished-for state that this translation can show. */
export const within = (trace: Translation, wanted: Wish): Partial<View> => {
  const kind: Kind = Object.hasOwn(trace.maps, String(wanted.kind))
    ? (wanted.kind as Kind)
    : trace.kinds[trace.kinds.length - 1];
  const { layers, heads } = trace.maps[kind];
  const ok: Record<string, unknown> = {};
  const aggregates = AGGREGATES.map(([value]) => value).filter(
    (value) => !value.startsWith("chosen") && (value !== "rollout" || kind === "encoder"),
  );
  const known: [keyof View, readonly string[]][] = [
    ["kind", Object.keys(trace.maps)],
    ["view", ["heatmap", "arcs", "aggregate"]],
    ["unit", ["sub", "word"]],
    ["scale", ["linear", "root", "row"]],
    ["specials", ["shown", "hidden", "renormalised"]],
    ["aggregate", aggregates],
  ];
  for (const [name, values] of known)
    if (values.includes(String(wanted[name]))) ok[name] = wanted[name];
  const counts: [keyof View, number][] = [
    ["layer", layers],
    ["head", heads],
    ["step", trace.tgt.length],
    ["query", trace.src.length],
  ];
  for (const [name, count] of counts) {
    const value = wanted[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count)
      ok[name] = value;
  }
  if (ok.specials) ok.renormalise = ok.specials === "renormalised";
  return ok;
};
