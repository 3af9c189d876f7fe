/* Gradio's fields: read, filled, and what they lack. */

import { type Sentence, t } from "../../i18n/words";
import type { Field } from "../../tabs/page";
import { choose, directionIn, offersDirection, setDirectionIn } from "./direction";

export const field = (id: string): Field | null =>
  document.querySelector<Field>(`#${id} textarea, #${id} input:not([type=radio])`);

/** Fill a field as a visitor would, so that Gradio takes notice. */
export const setField = (node: Field | null, value: string): void => {
  if (!node || node.value === value) return;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), "value")!.set!.call(node, value);
  node.dispatchEvent(new Event("input", { bubbles: true }));
};

const LOOKS = 10;
const APART = 100; // ms
let kept: { id: string; value: string } | null = null;

/** Fill a field with what will soon be followed by something else. */
export const fillNow = (id: string, value: string): void => {
  kept = null;
  setField(field(id), value);
};

/**
 * Fill a field, and once more where Gradio mounts it only afterwards, empty: until it has held for
 * ten looks after the page is `ready`, or something else is wanted in it.
 */
export const keepFilled = (
  id: string,
  value: string,
  language: string,
  ready: () => boolean,
): void => {
  const mine = { id, value };
  kept = mine;
  const look = (left: number): void => {
    if (kept !== mine) return;
    const node = field(id);
    setField(node, value);
    if (node) node.lang = language;
    if (left) setTimeout(look, APART, ready() ? left - 1 : LOOKS);
  };
  look(LOOKS);
};

export const direction = (id = "direction"): string => directionIn(id);
export const setDirection = (value: string, id = "direction"): void => setDirectionIn(id, value);
export const offers = (value: string, id = "direction"): boolean => offersDirection(id, value);

const TRIES = 100;
const BETWEEN = 20; // ms

/**
 * Gradio fills the fields when it has time: resolves once the direction is chosen, or after two
 * seconds.
 */
export const filledWith = async (way: string): Promise<void> => {
  for (let tries = 0; tries < TRIES && direction() !== way; tries++)
    await new Promise((done) => setTimeout(done, BETWEEN));
};

/** What the decoding controls ask for at present, as far as the chosen method uses them. */
export const settingsAsked = (): string => {
  const chosen = document.querySelector<HTMLInputElement>("#method input:checked")?.value ?? "";
  const others = [...document.querySelectorAll<Field>("#settings :is(input, textarea)")].filter(
    (node) => node.type !== "radio" && node.type !== "range",
  );
  const used = others.filter((node) => {
    const owner = node.closest(".for-beam, .for-sample");
    return !owner || owner.matches(`.for-${CSS.escape(chosen)}`);
  });
  return JSON.stringify([chosen, ...used.map((node) => node.value)]);
};
/** What stands in a decoding control. */
export const settingText = (name: string): string =>
  document.querySelector<Field>(
    name === "method" ? "#method input:checked" : `#setting-${name} :is(input, textarea)`,
  )?.value ?? "";

let settled: () => void;
/**
 * Resolves when the fields hold what the address or the first example says: before, they must not
 * be read.
 */
export const pageSettled = new Promise<void>((done) => {
  settled = done;
});
export const settle = (): void => settled();

const FITTED = ["source-text", "translation", "compare-a", "compare-b"];

const fit = (node: HTMLElement): void => {
  if (!node.clientWidth) return;
  node.style.flex = "none"; // the row would stretch it
  node.style.setProperty("--fit", "0");
  node.style.setProperty("--fit", node.scrollHeight + 2 + "px"); // and its borders
  node.style.flex = "";
};

/**
 * Safari before 26.2 leaves a field as tall as it was: a field's own height, for page.css, whenever
 * its text or its width may have changed.
 */
const fitFields = (): void => {
  if (CSS.supports("field-sizing", "content")) return;
  document.body.classList.add("fit");
  const seen = new ResizeObserver((changes) =>
    requestAnimationFrame(() => changes.forEach(({ target }) => fit(target as HTMLElement))),
  );
  document.addEventListener("input", (event) => {
    const target = event.target as HTMLElement;
    if (!FITTED.some((id) => target.closest("#" + id))) return;
    fit(target);
    seen.observe(target);
  });
  void pageSettled.then(() => FITTED.map(field).forEach((node) => node && seen.observe(node)));
};

/**
 * A result that Gradio disables could not be reached by Tab: it is read-only instead, whatever
 * Gradio draws anew.
 */
const reachable = (node: Field | null): void => {
  if (!node || node.readOnly) return;
  const free = () => {
    if (node.disabled) node.disabled = false;
  };
  node.readOnly = true;
  new MutationObserver(free).observe(node, { attributes: true, attributeFilter: ["disabled"] });
  free();
};

/** Tab reaches the tabs first, then direction, language and theme, as the eye does. */
const tabsFirst = (): void => {
  const [tabs, top] = ["#tabs > .tab-wrapper", "#top"].map((each) => document.querySelector(each));
  if (tabs && top) tabs.after(top);
};

/**
 * What Gradio's fields lack: a name that is spoken, a place for the Tab key, and a height that
 * follows the text.
 */
export const dressFields = (): void => {
  const dress = () => {
    const labels: Record<string, Sentence> = {
      "source-text": "Sentence to translate",
      translation: "Translation",
    };
    for (const [id, label] of Object.entries(labels)) {
      const node = field(id);
      if (!node) continue;
      node.dataset.englishLabel = label;
      node.setAttribute("aria-label", t(label));
      node.spellcheck = false;
    }
    reachable(field("translation"));
    tabsFirst();
  };
  dress();
  void pageSettled.then(dress); // some of them may not have been there before
  fitFields();
};

const ARROWS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** Arrows choose the neighbour: no browser sees a group in Gradio's radios. */
export const groupRadios = (): void => {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLInputElement;
    const by = ARROWS[event.key];
    const group = by && target.closest(":is(#direction, .segments):has(:focus)");
    if (!group || target.type !== "radio") return;
    const radios = [...group.querySelectorAll<HTMLInputElement>("input[type=radio]")];
    const next = radios.at((radios.indexOf(target) + by) % radios.length)!;
    event.preventDefault();
    next.focus();
    choose(next, radios);
  });
};
