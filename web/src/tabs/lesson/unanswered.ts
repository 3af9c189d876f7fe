/* What is shown in place of an answer: why there is none, and what asks again. */

import { el } from "../../dom/element";
import { sentence } from "../../format/text";
import { t, tMessage } from "../../i18n/words";
import type { Refusal } from "../../protocol/server";
import type { Say } from "./words";

/** `again`: the same may be asked once more. */
export type Unanswered = Refusal & { again?: boolean };

/** The server may be gone: then the call fails, or ends without a word. */
export const answerOf = async <T>(call: Promise<T | Refusal>): Promise<T | Unanswered> => {
  const none = { error: t("No answer from the server. Please try again."), again: true };
  try {
    return (await call) || none;
  } catch {
    return none;
  }
};

export const paintUnanswered = (
  note: HTMLElement,
  { error, again }: Unanswered,
  say: Say,
  retry: () => void,
): void => {
  const text = say("Try again");
  note.hidden = false;
  note.replaceChildren(sentence(tMessage(error)), again ? " " : "");
  if (again)
    note.append(el("button", { type: "button", class: "btn", text, on: { click: retry } }));
};
