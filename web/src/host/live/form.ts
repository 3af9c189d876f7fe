/* The page's fields, in the shape that the explorer reads: radios as segments, sliders, and their values. */

import { el } from "../../dom/element";
import { site } from "./site";

/** How to decode; "automatic" is what the checkpoint says it is decoded best with. */
const METHODS = ["automatic", "greedy", "beam", "sample"];

interface Slider {
  name: string;
  label: string;
  low: number;
  high: number;
  value: number;
  step: number;
  only?: string;
}

/** In the order of the served page's settings, behind the method. */
const SLIDERS: readonly Slider[] = [
  { name: "beam", label: "Beams", low: 1, high: 12, value: 4, step: 1, only: "for-beam" },
  {
    name: "length_penalty",
    label: "Length penalty",
    low: 0,
    high: 2,
    value: 0.6,
    step: 0.1,
    only: "for-beam",
  },
  {
    name: "temperature",
    label: "Temperature",
    low: 0.1,
    high: 2,
    value: 1,
    step: 0.1,
    only: "for-sample",
  },
  {
    name: "top_k",
    label: "Top-k (0: off)",
    low: 0,
    high: 100,
    value: 0,
    step: 1,
    only: "for-sample",
  },
  { name: "top_p", label: "Top-p", low: 0.05, high: 1, value: 1, step: 0.05, only: "for-sample" },
  { name: "seed", label: "Seed", low: 0, high: 2 ** 53 - 1, value: 0, step: 1, only: "for-sample" },
  {
    name: "max_length",
    label: "At most … tokens (0: automatic)",
    low: 0,
    high: 160,
    value: 0,
    step: 1,
  },
];

/** Names of the settings, as links carry them. */
export const SETTINGS = ["method", ...SLIDERS.map(({ name }) => name)];

/** Those that a method uses; the others are left to the checkpoint. */
const USED: Record<string, string[]> = {
  automatic: [],
  beam: ["method", "beam", "length_penalty"],
  sample: ["method", "temperature", "top_k", "top_p", "seed"],
};

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
    METHODS.map((method) => [method, method]),
    "automatic",
  );

/** The folded decoding controls. */
export const settingsForm = (form: HTMLElement): void => {
  const method = el("div", { class: "segments", id: "method" }, el("span", { text: "Decoding" }));
  method.append(methods("method"));
  form.append(method);
  for (const { name, label, low, high, value, step, only } of SLIDERS) {
    const seed = name === "seed";
    const input = el("input", {
      type: seed ? "number" : "range",
      min: low,
      max: high,
      value,
      step,
      "data-setting": name,
    });
    const shown = el("output", { text: seed ? "" : value, translate: "no" });
    if (!seed) input.addEventListener("input", () => (shown.textContent = input.value));
    form.append(
      el("label", { class: `slider ${only ?? ""}` }, el("span", { text: label }), shown, input),
    );
  }
};

const inputOf = (name: string): HTMLInputElement =>
  document.querySelector<HTMLInputElement>(
    name === "method" ? "#method input:checked" : `#settings [data-setting="${name}"]`,
  )!;

/** The settings' values, in their order. */
export const settingValues = (): (string | number)[] =>
  SETTINGS.map((name) => (name === "method" ? inputOf(name).value : Number(inputOf(name).value)));

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
export const chosenSettings = (): object => {
  const all = Object.fromEntries(SETTINGS.map((name, at) => [name, settingValues()[at]]));
  const used = USED[String(all.method)] ?? ["method"];
  const kept = Object.fromEntries(used.map((name) => [name, all[name]]));
  return all.max_length ? { ...kept, max_length: all.max_length } : kept;
};
