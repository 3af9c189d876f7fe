/* What can be turned at a station. */

import { el } from "../../dom/element";
import type { Control } from "../../protocol/lesson";
import { type Say, worded } from "./words";

/** `wait` is how many ms may pass before it is asked for. */
export type Change = (name: string, value: string | number, wait?: number) => void;

const FEW = 4; // choices that stand side by side
const SLIDING = 200; // ms of rest while a slider is being drawn

const segments = ({ name, value, choices }: Control, say: Say, change: Change): HTMLElement => {
  const buttons = choices.map(([key, text]) =>
    el("button", {
      type: "button",
      "aria-pressed": String(key === value),
      text: say(text),
      on: { click: () => change(name, key) },
    }),
  );
  const group = { class: "seg", role: "group", "aria-label": say(name) };
  return el(
    "div",
    { "data-name": name },
    el("span", { class: "cap", text: say(name) }),
    el("div", group, ...buttons),
  );
};

const labelled = (control: Control, say: Say, ...nodes: Node[]): HTMLElement => {
  const { name } = control;
  const label = el("label", { class: "cap", for: "lesson-" + name }, ...worded(say(name)));
  return el("div", { "data-name": name }, label, ...nodes);
};

const list = (control: Control, say: Say, change: Change): HTMLElement => {
  const { name, value, choices } = control;
  const select = el(
    "select",
    {
      id: "lesson-" + name,
      class: "pick",
      on: { change: () => change(name, choices[select.selectedIndex][0]) },
    },
    ...choices.map(([key, text]) => el("option", { selected: key === value, text: say(text) })),
  );
  return labelled(control, say, select);
};

const number = (control: Control, say: Say, change: Change): HTMLElement => {
  const { name, kind, value, low, high, step } = control;
  const slides = kind === "slider";
  const shown = el("output", { text: value });
  const field = el("input", {
    id: "lesson-" + name,
    type: slides ? "range" : "number",
    min: low,
    max: high,
    step,
    value,
  });
  field.addEventListener(slides ? "input" : "change", () => {
    shown.textContent = field.value;
    if (field.value !== "") change(name, Number(field.value), slides ? SLIDING : 0);
  });
  return labelled(control, say, field, ...(slides ? [shown] : []));
};

export const controlOf = (control: Control, say: Say, change: Change): HTMLElement => {
  if (control.kind !== "choice") return number(control, say, change);
  return (control.choices.length <= FEW ? segments : list)(control, say, change);
};
