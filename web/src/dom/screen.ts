/* What kind of screen and theme the page is seen on. */

import { playing, sceneRoot } from "./scene";

export type Theme = "light" | "dark";

/** Milliseconds within which a second click belongs to the first. */
export const DOUBLE_CLICK = 400;

/**
 * Whether there is no more room than on a phone: on a page of others, in the explorer's own
 * element. Neither way asks the browser to lay out anew what has just been changed.
 */
export const phone = (): boolean => {
  const { root, width } = playing();
  const own = width || root?.clientWidth;
  return own ? own <= 640 : matchMedia("(max-width: 640px)").matches;
};
export const touch = (): boolean => matchMedia("(pointer: coarse)").matches;
export const dark = (): boolean => sceneRoot().classList.contains("dark");

/** Whether it stands in a tab that is open; does not make the browser lay the page out. */
export const isShown = (node: Element): boolean =>
  node.checkVisibility ? node.checkVisibility() : node.clientWidth > 0;

let letters = "";
/**
 * The page's fonts. They never change, and a look at a style makes the browser work out all of
 * them.
 */
export const sans = (): string =>
  (letters ||= getComputedStyle(sceneRoot()).getPropertyValue("--sans").trim()) || "sans-serif";

/** Once the next frame is seen, unless `signal` is aborted before. */
export const onceSeen = (signal: AbortSignal, run: () => void): void => {
  const frame = requestAnimationFrame(() => {
    const timer = setTimeout(run);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
};

/** When the browser has nothing else to do; Safari does not say when that is. */
export const whenIdle = (run: () => void): number =>
  "requestIdleCallback" in window
    ? requestIdleCallback(run, { timeout: 2000 })
    : (setTimeout(run, 200) as unknown as number);

/** Take `whenIdle` back. */
export const cancelIdle = (id: number): void => {
  if ("cancelIdleCallback" in window) cancelIdleCallback(id);
  else clearTimeout(id);
};
