/* A part that is painted late, and for all that has changed until then. */

import type { Changed } from "../../state/context";

export interface Delayed {
  paint(changed: Changed): void;
}

/** `paint` comes `wait` ms after the first change. */
export const makeDelayed = (
  signal: AbortSignal,
  wait: number,
  paint: (changed: Changed) => void,
): Delayed => {
  let behind: Set<string> | null = null;
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return {
    paint: (changed) => {
      if (behind) return changed.forEach((name) => behind!.add(name));
      behind = new Set(changed);
      const run = () => {
        const missed = behind!;
        behind = null;
        paint(missed);
      };
      // Messages that came while the page was busy are heard first: they may make it needless.
      timer = window.setTimeout(() => (timer = window.setTimeout(run)), wait);
    },
  };
};
