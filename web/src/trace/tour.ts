/* The stops of a first tour, on the sentence that is there: what each says, and what is chosen for
   it. */

import { type Sentence } from "../i18n/words";
import type { Kind, Place, Role } from "../protocol/messages";
import { strongestHead } from "./roles";
import type { Translation } from "./translation";

export interface Stop {
  /** What is pointed at. */
  at: string;
  title: Sentence;
  text: Sentence;
  values: Record<string, string | number>;
  /** The head that is shown, in a row in which it does what is told of it. */
  head?: { kind: Kind; place: Place; role: Role };
  /** The tab that it leads to. */
  tab?: string;
}

const nameOf = ([layer, head]: Place): string => `L${layer + 1} H${head + 1}`;

/** The head that most looks one token back, the decoder's before the encoder's. */
const looksBack = (trace: Translation): Stop["head"] => {
  for (const kind of ["decoder", "encoder"] as const) {
    const role = "previous";
    const place = strongestHead(trace, kind, role);
    if (place) return { kind, place, role };
  }
};

const sentences = ({ src, tgt }: Translation): Stop[] => [
  {
    at: ".chips.src",
    title: "Your sentence",
    text: "The model reads it as {n} tokens. Words that are not in its vocabulary are split into several.",
    values: { n: src.length },
  },
  {
    at: ".chips.tgt",
    title: "Its translation",
    text: "It is written token by token, in {n} steps. The number is the probability that the model gave each token. Click one to go to its step.",
    values: { n: tgt.length },
  },
];

export const tourOf = (trace: Translation): Stop[] => {
  const { layer, head } = trace.leading;
  const aligns: Stop["head"] = { kind: "cross", place: [layer, head], role: "aligns" };
  const back = looksBack(trace);
  const values = { head: nameOf(aligns.place) };
  return [
    ...sentences(trace),
    {
      at: "#attention-detail",
      title: "A head that aligns",
      text: "In {head}, each row is a token that was written. Its strongest cell is the source word that this head looked at: usually the one being translated.",
      values,
      head: aligns,
    },
    {
      at: "#attention-detail",
      title: "A head that looks back",
      text: back
        ? "{head} mostly looks at the token just before its own: those cells lie along the diagonal."
        : "In this sentence no head mostly looks one token back. In others you find such heads under the role “Previous”.",
      values: back ? { head: nameOf(back.place) } : {},
      head: back,
    },
    {
      at: "#attention-mosaic",
      title: "What silencing it does",
      text: "The lab can switch off any head, for example {head}, and translate again: it shows which heads the translation needs.",
      values,
      head: aligns,
      tab: "lab",
    },
    {
      at: ".export",
      title: "Where to go on",
      text: "The lesson follows this sentence through the whole model, Compare sets two sentences side by side, and everything here can be saved below.",
      values: {},
      tab: "lesson",
    },
  ];
};
