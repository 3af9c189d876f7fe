/* What is said of one of two translations: its words, how it was made, and what happens at a
   step. */

import { el } from "../../dom/element";
import { two } from "../../format/number";
import { tagOf } from "../../i18n/language";
import { t, tParts } from "../../i18n/words";
import type { Kind } from "../../protocol/messages";
import { wordsBeside } from "../../trace/difference";
import { type Picture, strongest } from "../../trace/picture";
import { settingsText } from "../../trace/settings";
import type { Translation } from "../../trace/translation";

/** Both translations are called by a letter. */
export type Side = "a" | "b";
export const SIDES: Side[] = ["a", "b"];

/** The words, with those marked that the other does not have, and how they were made. */
export const sayTranslation = (
  box: HTMLElement,
  side: Side,
  trace: Translation,
  other: Translation,
): void => {
  const said = box.querySelector<HTMLElement>(".said")!;
  said.lang = tagOf(trace.checkpoint.tgt);
  const words = wordsBeside(trace, other).flatMap(({ text, own, space }) => [
    space ? " " : "",
    own ? el("mark", { text }) : text,
  ]);
  said.replaceChildren(side.toUpperCase() + ": ", ...words);
  const score = trace.steps.reduce((sum, step) => sum + step.lp, 0);
  box.querySelector(".facts")!.textContent = [
    trace.checkpoint.name,
    settingsText(trace),
    `log p ${score.toFixed(2).replace("-", "−")}`,
    t("{n} tokens", { n: trace.tgt.length }),
  ].join(" · ");
};

/** What happens at step `at` (of the encoder: at query `at`), which is row `row` of the picture. */
export const stepWords = (
  trace: Translation,
  kind: Kind,
  at: number,
  picture: Picture,
  row: number,
): (Node | string)[] => {
  const best = strongest(picture, row, 1)[0];
  const values = { key: best?.text ?? "", weight: best ? two(best.weight) : "" };
  if (kind === "encoder")
    return tParts("{reads} looks at {key} {weight}", { ...values, reads: picture.rows[row].text });
  const said = tParts("reads {reads}, predicts {predicts}, looks at {key} {weight}", {
    ...values,
    reads: trace.reads[at].s,
    predicts: trace.tgt[at].s,
  });
  return [...said, ` · p = ${two(Math.exp(trace.steps[at].lp))}`];
};

/** Cell `i`, `j` of a side's map; "": it has none there. */
export const cellWords = (side: Side, kind: Kind, picture: Picture, i: number, j: number) => {
  const { rows, columns, z } = picture;
  if (!rows[i] || !columns[j]) return "";
  const row = kind === "encoder" ? rows[i].text : rows[i].predicts;
  return `${side.toUpperCase()}: ${row} ← ${columns[j].text} ${z[i][j].toFixed(4)}`;
};
