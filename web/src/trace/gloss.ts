/* A Chinese translation word by word, for who does not read it: where each word comes from, as the
   aligning head says. */

import { PUNCTUATION, SPECIAL } from "../protocol/flags";
import type { GlossWord } from "../protocol/messages";
import type { Translation } from "./translation";

/** A word with its pinyin and what it means; `from`: who says what it means. */
export interface Glossed {
  tokens: number[];
  text: string;
  pinyin: string;
  meaning: string;
  from: "head" | "glossary" | "";
}

/**
 * The share of a word's row from which the head is believed; below it a glossary is asked first.
 */
const SURE = 0.4;
/** The share from which a source word is named beside the strongest: 喝茶 is "drink tea". */
const ALSO = 0.3;

/** Whether a translation is written in a way that this helps with. */
export const canGloss = (trace: Translation): boolean =>
  trace.checkpoint.tgt === "zh" && !!trace.words && !trace.live;

/** The words without the server's help: no pinyin and no glossary. */
const plainWords = ({ words, tgt }: Translation): GlossWord[] => {
  const found: GlossWord[] = [];
  words!.tgt.g.forEach((group, i) => {
    if (tgt[i].f & (SPECIAL | PUNCTUATION)) return;
    const last = found.at(-1);
    if (last && words!.tgt.g[last.t] === group) last.u = i;
    else found.push({ t: i, u: i, s: words!.tgt.s[group], p: "", d: "" });
  });
  return found;
};

/** Whether a row of the aligning head belongs to the token that it reads. */
const readsInput = (trace: Translation): boolean => {
  const { layer, head } = trace.leading;
  const own = trace.stats("cross", layer, head)?.reading;
  const known = trace.profile?.readings?.[layer * trace.maps.cross.heads + head];
  return (own || known) === "input";
};

/**
 * The source words that the aligning head finds for these tokens, and how much of their rows the
 * strongest gets.
 */
const sourceOf = (trace: Translation, tokens: number[]): { text: string; weight: number } => {
  const { layer, head } = trace.leading;
  const { rows, columns } = trace.maps.cross;
  const map = trace.head("cross", layer, head);
  const shift = readsInput(trace) ? 1 : 0; // row t + 1 reads token t
  const own = tokens.map((t) => t + shift).filter((row) => row < rows);
  const { g, s } = trace.words!.src;
  const weights = s.map(() => 0);
  for (const row of own)
    for (let j = 0; j < columns; j++)
      if (!(trace.src[j].f & (SPECIAL | PUNCTUATION)))
        weights[g[j]] += map[row * columns + j] / own.length;
  const weight = Math.max(0, ...weights);
  const least = Math.min(ALSO, weight);
  const found = s.filter((_, group) => weight && weights[group] >= least);
  return { text: found.map((each) => each.trim()).join(" "), weight };
};

export const glossOf = (trace: Translation): Glossed[] => {
  const words = (trace.gloss ?? plainWords(trace)).map((word) => {
    const tokens = Array.from({ length: word.u - word.t + 1 }, (_, i) => word.t + i);
    return { ...word, tokens, source: sourceOf(trace, tokens) };
  });
  return words.map(({ s, p, d, tokens, source: { text, weight } }, at) => {
    // Two words side by side cannot both mean the same one: of a particle a glossary knows better
    // than the head.
    const shared = [at - 1, at + 1].some((beside) => words[beside]?.source.text === text);
    const sure = weight >= SURE && !shared;
    // and no glossary has it: it says nothing by itself
    const particle = shared && s.trim().length === 1;
    const meaning = sure ? text : d || (particle ? "" : text);
    const from = meaning === "" ? "" : sure || !d ? "head" : "glossary";
    return { tokens, text: s.trim(), pinyin: p, meaning, from };
  });
};
