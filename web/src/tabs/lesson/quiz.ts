/* A station's question, the answers to choose from, and after a look at it the verdict. */

import { TICK, bold, el, icon } from "../../dom/element";
import type { Station } from "../../protocol/lesson";
import { type Say, worded } from "./words";

/** What was answered. */
export interface Given {
  choice: number;
  checked?: boolean;
}

export interface QuizProps {
  station: Station;
  given?: Given;
  say: Say;
  choose: (choice: number) => void;
}

const option = ({ station, given, choose }: QuizProps, text: string, i: number): HTMLElement => {
  const right = !!given?.checked && i === station.right;
  const input = el("input", {
    type: "radio",
    name: "lesson-answer",
    value: i,
    checked: given?.choice === i,
    on: { change: () => choose(i) },
  });
  const parts = [input, el("span", {}, ...worded(text)), ...(right ? [icon(TICK)] : [])];
  return el("label", { class: right ? "right" : "" }, ...parts);
};

/** `box` has places for the question (h2), the answers and the verdict (.why). */
export const paintQuiz = (box: HTMLElement, props: QuizProps): void => {
  const { station, given, say } = props;
  const answers = box.querySelector(".answers")!;
  box.querySelector("h2")!.replaceChildren(...worded(station.ask));
  answers.setAttribute("aria-label", station.ask);
  answers.replaceChildren(...station.options.map((text, i) => option(props, text, i)));
  const verdict = say(given?.choice === station.right ? "Right." : "Not quite.");
  const why = given?.checked ? [bold(verdict), " ", ...worded(station.why)] : [];
  box.querySelector(".why")!.replaceChildren(...why);
};
