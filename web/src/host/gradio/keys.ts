/* The keys of the page's fields: Enter translates, Escape stops. */

import { isBusy } from "./busy";

/** What the Enter key presses, with Ctrl or without. */
const ENTER: Record<string, string> = {
  "source-text": "translate",
  "compare-a": "compare-run",
  "compare-b": "compare-run",
};

export const press = (id: string): void => document.querySelector<HTMLElement>("#" + id)?.click();

const typed = (event: KeyboardEvent): void => {
  if (event.key === "Escape" && isBusy()) press("stop");
  // 229: Safari, as a composition ends
  const composing = event.isComposing || event.keyCode === 229;
  if (event.key !== "Enter" || event.shiftKey || composing) return;
  const asked = Object.keys(ENTER).find((id) => (event.target as Element).closest("#" + id));
  if (!asked) return;
  event.preventDefault();
  if (isBusy()) press("stop"); // of the text as it was
  press(ENTER[asked]);
};

export const listenToKeys = (): void => document.addEventListener("keydown", typed, true);
