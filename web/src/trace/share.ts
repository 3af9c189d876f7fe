/* Shares of the weight, and a text in pieces: what input health is told by. */

import { SPECIAL, UNKNOWN } from "../protocol/flags";
import { KINDS, type Kind, type Piece } from "../protocol/messages";
import type { Translation } from "./translation";

/** The share of a map's weight that falls on keys with a flag: the mean over its rows. */
export const shareOn = (
  trace: Translation,
  kind: Kind,
  map: Float32Array,
  flag: number,
): number => {
  const { rows, columns } = trace.maps[kind];
  const keys = trace.keys(kind);
  let sum = 0;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) if (keys[j].f & flag) sum += map[i * columns + j];
  return sum / rows;
};

/** A translated text's words in pieces, as the server splits one that is still being typed. */
export const piecesOf = (trace: Translation): Piece[][] => {
  const words: Piece[][] = [];
  trace.src.forEach((token, i) => {
    if (token.f & SPECIAL) return;
    const previous = trace.src[i - 1];
    const piece = { s: token.s, u: token.f & UNKNOWN };
    if (previous && previous.w === token.w) words[words.length - 1].push(piece);
    else words.push([piece]);
  });
  return words;
};

/** The share of each kind's weight that special tokens get, over all heads. */
export const specialShares = (trace: Translation): Record<Kind, number> =>
  trace.shares ??
  (Object.fromEntries(
    KINDS.map((kind) => {
      if (!trace.kinds.includes(kind)) return [kind, 0];
      const { layers, heads } = trace.maps[kind];
      let sum = 0;
      for (let l = 0; l < layers; l++)
        for (let h = 0; h < heads; h++)
          sum += shareOn(trace, kind, trace.head(kind, l, h), SPECIAL);
      return [kind, sum / (layers * heads)];
    }),
  ) as Record<Kind, number>);
