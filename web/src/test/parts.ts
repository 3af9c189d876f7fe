/* A stored translation of which only some maps came along, for tests. */

import { KINDS, type Kind, type Parts, type Place, type TracePayload } from "../protocol/messages";
import type { Translation } from "../trace/translation";
import { payload } from "./example";

/** Maps of some heads, one after the other, as "f32" packs them; the decoder's as triangles. */
export const packedMaps = (trace: Translation, kind: Kind, places: readonly Place[]) => {
  const { columns } = trace.maps[kind];
  const inside = (_: number, at: number) =>
    kind !== "decoder" || at % columns <= Math.floor(at / columns);
  const floats = places.flatMap(([l, h]) => [...trace.head(kind, l, h)].filter(inside));
  const bytes = new Uint8Array(new Float32Array(floats).buffer);
  const planes = new Uint8Array(bytes.length);
  bytes.forEach((byte, at) => (planes[(at % 4) * floats.length + (at >> 2)] = byte));
  return planes;
};

/**
 * A translation as a notebook's kernel sends a long one: with the map of `first`, and of the others
 * nothing.
 */
export const inParts = (trace: Translation, first: Place, id?: string): TracePayload => {
  const heads = (kind: Kind): Parts["heads"] =>
    kind === "cross" ? [[...first, packedMaps(trace, kind, [first])]] : [];
  const parts = Object.fromEntries(KINDS.map((kind) => [kind, { heads: heads(kind) }]));
  const weights = Object.fromEntries(KINDS.map((kind) => [kind, ""]));
  return { ...payload(id), encoding: "f32", rollout: "", weights, parts } as TracePayload;
};
