/* What kind of screen and theme the page is seen on. */

import { playing, sceneRoot } from "./scene";

export type Theme = "light" | "dark";

/** Milliseconds within which a second click belongs to the first. */
export const DOUBLE_CLICK = 400;

/** Whether there is no more room than on a phone: on a page of others, in the explorer's own element. */
export const phone = (): boolean => (playing().root?.clientWidth || innerWidth) <= 640;
export const touch = (): boolean => matchMedia("(pointer: coarse)").matches;
export const dark = (): boolean => sceneRoot().classList.contains("dark");
export const cssVar = (name: string): string =>
  getComputedStyle(sceneRoot()).getPropertyValue(name).trim();

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
