/* Maps that did not all come with their translation: small pictures stand for the others until
   they are looked at. */

import type { Parts, Place } from "../protocol/messages";
import { type Choice, aggregateHeads } from "./aggregate";
import type { Maps, Translation } from "./translation";

/** What stands for √w = 1 in a small picture. */
const LEVELS = 15;

/**
 * Fill maps with what their small pictures say: every cell of a block has the largest weight of it.
 */
export const unfold = ({ small, pool = 1 }: Parts, maps: Maps): void => {
  if (!small) return;
  const { layers, heads, rows, columns, values } = maps;
  const down = Math.ceil(rows / pool);
  const across = Math.ceil(columns / pool);
  const block = (i: number, j: number) => Math.floor(i / pool) * across + Math.floor(j / pool);
  for (let head = 0; head < layers * heads; head++)
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const root = small[head * down * across + block(i, j)] / LEVELS;
        values[(head * rows + i) * columns + j] = root * root;
      }
};

/** The heads that a map is made of. */
const madeOf = (trace: Translation, choice: Choice): Place[] => {
  const { kind, layer, head, view, aggregate, overlay } = choice;
  if (view !== "aggregate") return [...overlay, [layer, head]];
  if (aggregate === "alti") return [];
  if (aggregate !== "rollout") return aggregateHeads(trace, choice, aggregate.split("-")[0]);
  return kind === "encoder" ? [] : aggregateHeads(trace, choice, "layer");
};

/** The heads whose maps are shown by a choice and are not there yet. */
export const missingOf = (trace: Translation, choice: Choice): Place[] =>
  trace.whole ? [] : madeOf(trace, choice).filter(([l, h]) => !trace.has(choice.kind, l, h));
