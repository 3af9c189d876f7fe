/* What a station makes of the sentence, round its figure: the views to choose from, the tensor,
   numbers and texts. */

import { el } from "../../dom/element";
import { languagesOf } from "../../i18n/language";
import { percents, thousands } from "../../i18n/numerals";
import type { StationAnswer } from "../../protocol/lesson";
import { type Say, worded } from "./words";

export interface OutcomeProps {
  answer: StationAnswer;
  /** The direction of translation. */
  way: string;
  say: Say;
  choose: (view: string) => void;
}

const viewButton = ({ answer, say, choose }: OutcomeProps, name: string): HTMLElement =>
  el("button", {
    type: "button",
    "aria-pressed": String(name === answer.view),
    text: say(name),
    on: { click: () => choose(name) },
  });

const pairs = (
  table: Record<string, string>,
  say: Say,
  make: (value: string) => HTMLElement,
): HTMLElement[] =>
  Object.entries(table).map(([name, value]) =>
    el("div", {}, el("dt", {}, ...worded(say(name))), make(value)),
  );

/** Gives the tensor that is shown. */
export const paintOutcome = (box: HTMLElement, props: OutcomeProps): string => {
  const { answer, say } = props;
  const { views, view, numbers, texts } = answer;
  const part = (selector: string) => box.querySelector<HTMLElement>(selector)!;
  const now = views.find((each) => each.name === view)!;
  part(".views").hidden = views.length < 2;
  part(".views").replaceChildren(...views.map(({ name }) => viewButton(props, name)));
  const shape = el("span", { class: "shape", text: `[${now.shape.join(", ")}]` });
  const tensor = el("code", { text: now.tensor });
  part(".tensor").replaceChildren(tensor, ...(now.shape.length ? [shape] : []));
  const lang = languagesOf(props.way)[1];
  const number = (value: string) => el("dd", { text: percents(thousands(say(value))) });
  const text = (value: string) => el("dd", { text: value || "∅", lang });
  part(".numbers").replaceChildren(...pairs(numbers, say, number));
  part(".texts").replaceChildren(...pairs(texts, say, text));
  return now.tensor;
};
