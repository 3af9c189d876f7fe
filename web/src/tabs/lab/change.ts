/* What changes: old and new translation, the ribbons between them, and both as files. */

import { type RibbonsProps, ribbons, ribbonsText } from "../../components/ribbons/ribbons";
import { drawing } from "../../dom/download";
import { el } from "../../dom/element";
import { minus, signed } from "../../format/number";
import { languagesOf } from "../../i18n/language";
import { t, tParts } from "../../i18n/words";
import type { Change } from "../../protocol/lab";
import { changedWords } from "../../trace/changed-words";
import type { HeadChange } from "./board";

/** A change with the number of heads that were off. */
export type Changed = Change & { off: number };

const headsOff = (off: number): string => {
  if (!off) return t("all heads on");
  return off === 1 ? t("1 head off") : t("{off} heads off", { off });
};

/** What the ribbons show: old words, source, new words, and the weights between them. */
const pictureOf = (change: Changed, way: string): Omit<RibbonsProps, "width"> => {
  const { before, source, after, off } = change;
  const [from, to] = languagesOf(way);
  const fresh = changedWords(before.words, after.words);
  return {
    rows: [
      { name: t("All heads on"), words: before.words, lang: to },
      { name: t("Source"), words: source, lang: from },
      { name: headsOff(off), words: after.words, lang: to, fresh },
    ],
    bands: [before.links, source.map((_, j) => after.links.map((line) => line[j]))],
    label: t("Word alignment of both translations"),
  };
};

/** The new translation, its new words underlined. */
const underlined = ({ before, after }: Changed, lang: string): HTMLElement => {
  const fresh = changedWords(before.words, after.words);
  const said = el("p", { lang });
  let at = 0;
  after.words.forEach((word, i) => {
    const found = Math.max(after.text.indexOf(word, at), at);
    said.append(after.text.slice(at, found), fresh[i] ? el("u", { text: word }) : word);
    at = found + word.length;
  });
  return said;
};

/** Heads are switched under greedy search, whatever made the translation that other tabs show. */
const decoded = (): string => ` · ${t("greedy")}`;

type Find = <E extends Element = HTMLElement>(selector: string) => E;

export const paintChange = (find: Find, change: Changed | null, way: string): void => {
  const before = find(".before");
  const after = find(".after");
  const picture = find(".lab-ribbons");
  for (const part of [before, after, picture]) part.replaceChildren();
  if (!change) return;
  const lang = languagesOf(way)[1];
  const cap = (...nodes: (Node | string)[]) => el("p", { class: "cap" }, ...nodes);
  const score = minus(change.before.score);
  before.append(
    el("h3", { text: t("All heads on") }),
    el("p", { lang, text: change.before.text }),
    cap(...tParts("log p {score} nats", { score }), decoded()),
  );
  const scores = {
    score: minus(change.after.score),
    first: minus(change.first),
    change: signed(change.change),
  };
  after.append(
    el("h3", { text: headsOff(change.off) }),
    underlined(change, lang),
    cap(
      ...tParts("log p {score}, of the first translation {first} (Δ {change})", scores),
      decoded(),
    ),
  );
  const width = find(".lab-change").clientWidth;
  picture.append(ribbons({ ...pictureOf(change, way), width }));
};

/** The change as a file. */
export const changeFile = (
  format: string,
  change: Changed,
  { text, way }: { text: string; way: string },
  heads: HeadChange[],
): Promise<Blob> | Blob => {
  if (format === "svg" || format === "png")
    return drawing(ribbonsText(pictureOf(change, way)), format);
  if (format === "json") {
    const whole = { source: text, direction: way, heads, change };
    return new Blob([JSON.stringify(whole)], { type: "application/json" });
  }
  const head = "attention,layer,head,role,change of log p (nats),gate";
  const lines = [head, ...heads.map((each) => Object.values(each).join(","))];
  return new Blob(["\ufeff" + lines.join("\r\n") + "\r\n"], { type: "text/csv" });
};
