/* The form of a question: its fields as the server says them. */

import { el } from "../../dom/element";
import { type Sentence, tText } from "../../i18n/words";
import type { LabField } from "../../protocol/lab";

/** What is filled in; null: the server chooses. */
export type Options = Record<string, string | number | null | unknown[]>;

interface FormProps {
  options: Options;
  /** A field holds another value. */
  edited: (name: string) => void;
  /** A value was changed for good, not only typed. */
  changed: () => void;
}

/** Choices whose ids are no English words; the other languages have a word for the id. */
const CALLED: Record<string, Sentence> = {
  relative_entropy: "relative entropy",
  gradient: "gradient × input",
  integrated: "integrated gradients",
};

const select = ({ name, label, choices }: LabField, { options, edited, changed }: FormProps) => {
  const node = el(
    "select",
    {
      class: "pick",
      "aria-label": tText(label),
      on: {
        change: () => {
          options[name] = node.value;
          edited(name);
          changed();
        },
      },
    },
    ...choices!.map((value) =>
      el("option", {
        value,
        selected: value === options[name],
        text: tText(CALLED[value] ?? value),
      }),
    ),
  );
  return node;
};

const input = (
  { name, label, kind, low, high, step }: LabField,
  { options, edited, changed }: FormProps,
  typed: (text: string) => void,
) => {
  const node = el("input", {
    type: kind,
    min: low,
    max: high,
    step,
    value: String(options[name] ?? ""),
    "aria-label": tText(label),
    translate: "no",
    on: {
      input: () => {
        const number = node.value === "" ? null : node.valueAsNumber;
        options[name] = kind === "text" ? node.value : number;
        edited(name);
        typed(node.value);
      },
      change: () => {
        if (kind !== "text") changed();
      },
    },
  });
  return node;
};

/** One field with its label; a range shows its value beside it. */
export const fieldOf = (field: LabField, props: FormProps): HTMLElement => {
  const { name, label, kind, value } = field;
  if (!(name in props.options)) props.options[name] = value;
  const title = el("span", { text: tText(label) });
  const named = { "data-field": name };
  if (kind === "choice")
    return el("label", { class: "cap", ...named }, title, select(field, props));
  const shown = el("output", { text: String(props.options[name]) });
  const node = input(field, props, (text) => (shown.textContent = text));
  const wide = kind === "text" ? " wide" : "";
  const last = kind === "range" ? [shown] : [];
  return el("label", { class: "cap" + wide, ...named }, title, node, ...last);
};
