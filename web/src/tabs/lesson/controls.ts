/* What can be turned at a station. */

import { el } from "../../dom/element";
import { pageLanguage } from "../../i18n/language";
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
  const slides = kind === "range";
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

const controlOf = (control: Control, say: Say, change: Change): HTMLElement => {
  if (control.kind !== "choice") return number(control, say, change);
  return (control.choices.length <= FEW ? segments : list)(control, say, change);
};

export interface ControlsProps {
  /** Whose controls they are: the station's name. */
  of: string;
  controls: Control[];
  say: Say;
  change: Change;
}

/**
 * Gives what paints them. The one that has the focus keeps it, and a slider that is being drawn
 * stays under the hand.
 */
export const makeControls = (box: HTMLElement): ((props: ControlsProps) => void) => {
  /** What is shown, but for how it stands. */
  let shown = "";
  return ({ of, controls, say, change }) => {
    const { activeElement } = document;
    const held = box.contains(activeElement) && activeElement!.closest<HTMLElement>("[data-name]");
    const plain = controls.map((each) => ({ ...each, value: undefined }));
    const described = JSON.stringify([of, pageLanguage(), plain]);
    if (held && shown === described && activeElement!.matches("input")) return;
    box.replaceChildren(...controls.map((each) => controlOf(each, say, change)));
    shown = described;
    if (!held) return;
    const same = `[data-name="${held.dataset.name}"] :is(input, select, [aria-pressed=true])`;
    box.querySelector<HTMLElement>(same)?.focus();
  };
};
