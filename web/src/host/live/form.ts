/* The page's fields, in the shape that the explorer reads: radios as segments, sliders, and their
   values. */

import type { Sentence } from "../../i18n/words";
import { el } from "../../dom/element";
import { METHODS } from "../../protocol/registry";
import { AUTOMATIC, CONTROLLED, type Controlled, usedSettings, valueIn } from "./settings";
import { site } from "./site";

/** How to decode; "automatic" is what the checkpoint says it is decoded best with. */
const CHOICES = [AUTOMATIC, ...Object.keys(METHODS)];

/** Names of the settings, as links carry them. */
export const SETTINGS = ["method", ...CONTROLLED.map(({ name }) => name)];

/** Radios side by side; the chosen one's label has the class "selected". */
export const segments = (
  name: string,
  choices: readonly (readonly [label: string, value: string])[],
  chosen: string,
): HTMLElement => {
  const wrap = el("div", { class: "wrap" });
  for (const [label, value] of choices) {
    const input = el("input", { type: "radio", name, value });
    input.checked = value === chosen;
    wrap.append(el("label", {}, input, el("span", { text: label })));
  }
  const paint = () => {
    for (const label of wrap.querySelectorAll("label"))
      label.classList.toggle("selected", label.querySelector("input")!.checked);
  };
  wrap.addEventListener("change", paint);
  paint();
  return wrap;
};

/** The directions that the site offers. */
export const directions = (name: string, chosen: string): HTMLElement => {
  const wrap = segments(
    name,
    site().offers.map(({ label, direction }) => [label, direction]),
    chosen,
  );
  wrap.setAttribute("translate", "no");
  return wrap;
};

/** How a side of Compare, or the whole page, decodes. */
export const methods = (name: string): HTMLElement =>
  segments(
    name,
    CHOICES.map((method) => [method, method]),
    AUTOMATIC,
  );

/** The folded decoding controls. */
export const settingsForm = (form: HTMLElement): void => {
  const method = el(
    "div",
    { class: "segments", id: "method" },
    el("span", { text: "Decoding" satisfies Sentence }),
  );
  method.append(methods("method"));
  form.append(method);
  for (const { name, method: only, control } of CONTROLLED) {
    const { kind, label, low: min, high: max, step, value } = control;
    const range = kind === "text" ? {} : { min, max, step };
    const input = el("input", { type: kind, ...range, value, "data-setting": name });
    const slider = kind === "range";
    const shown = el("output", { text: slider ? value : "", translate: "no" });
    if (slider) input.addEventListener("input", () => (shown.textContent = input.value));
    const parts = [el("span", { text: label }), shown, input];
    form.append(el("label", { class: `slider ${only ? "for-" + only : ""}` }, ...parts));
  }
};

const inputOf = (name: string): HTMLInputElement =>
  document.querySelector<HTMLInputElement>(
    name === "method" ? "#method input:checked" : `#settings [data-setting="${name}"]`,
  )!;

const valueOf = (each: Controlled): string | number => valueIn(inputOf(each.name).value, each);

/** The settings' values, in their order. */
export const settingValues = (): (string | number)[] => [
  inputOf("method").value,
  ...CONTROLLED.map(valueOf),
];

/** Fill the settings, in their order. */
export const fillSettings = (values: readonly unknown[]): void =>
  SETTINGS.forEach((name, at) => {
    const value = String(values[at]);
    if (name === "method") {
      const radio = document.querySelector<HTMLInputElement>(
        `#method input[value="${CSS.escape(value)}"]`,
      );
      if (radio && !radio.checked) radio.click();
    } else if (inputOf(name).value !== value) {
      inputOf(name).value = value;
      inputOf(name).dispatchEvent(new Event("input", { bubbles: true }));
    }
  });

/** The settings that the chosen method uses. */
export const chosenSettings = (): object => usedSettings(inputOf("method").value, valueOf);
