/* A question to the lab about what is seen elsewhere on the page. */

import { openTab } from "../dom/tab";
import { tables } from "../i18n/language";
import type { Translation } from "../trace/translation";
import type { View } from "./view";

type Cell = readonly [query: number, key: number];

export interface LabQuestion {
  /** The view that answers, and what is chosen for it. */
  view: string;
  options: Record<string, unknown>;
  text: string;
  /** The ids of the translation that it is about; null: what the model says greedily. */
  target: number[] | null;
  /** The checkpoint that is asked; null: the page's present one. */
  direction: string | null;
}

/** Only the whole page has a lab: an explorer that stands elsewhere has none. */
export const hasLab = (): boolean => !!document.querySelector("#tabs");

/** The views that the page's lab answers; null: every one. */
let answered: ReadonlySet<string> | null = null;

/** The page's lab answers these views alone: nothing on the page asks for another. */
export const answersOnly = (views: readonly string[]): void => {
  answered = new Set(views);
};

/** Whether the page has a lab that answers a view. */
export const labAnswers = (view: string): boolean => hasLab() && (!answered || answered.has(view));

let waiting: LabQuestion | null = null;

/**
 * Open the lab and ask it; where Gradio has not built it yet, it takes the question when it comes.
 */
export const askLab = (question: LabQuestion): void => {
  waiting = question;
  openTab("lab-tab", ["Lab", ...Object.values(tables()).map((table) => table.Lab)]);
  dispatchEvent(new Event("lab-ask"));
};

/** Ask a view about the very translation that is shown. */
export const askAbout = (
  trace: Translation,
  view: string,
  options: Record<string, unknown> = {},
): void =>
  askLab({
    view,
    options,
    text: trace.source,
    target: trace.tgt.map(({ i }) => i),
    direction: null,
  });

/** Ask why a head looks from one token at another, by their places in the trace. */
export const askWhyHere = (
  trace: Translation,
  { kind, layer, head }: Pick<View, "kind" | "layer" | "head">,
  [query, key]: Cell,
): void =>
  askAbout(trace, "why", {
    kind,
    layer: layer + 1,
    head: head + 1,
    query: query + 1,
    key: key + 1,
  });

/** The question that was asked last, once. */
export const takeQuestion = (): LabQuestion | null => {
  const question = waiting;
  waiting = null;
  return question;
};
