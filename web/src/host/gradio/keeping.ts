/* What is chosen is kept with the page's address: once nothing more is chosen for a moment, since a
   browser limits how often its history is written. */

import type { Explorer } from "../../tabs/explorer/explorer";
import { keepShown } from "./opening";

const KEPT = 300; // ms

export interface Keeping {
  soon(): void;
  now(): void;
}

/** `settled`: whether the page's fields are what is to be kept. */
export const makeKeeping = (x: Explorer, settled: () => boolean): Keeping => {
  let timer = 0;
  const now = () => {
    if (settled()) keepShown(x);
  };
  return {
    soon: () => {
      clearTimeout(timer);
      timer = window.setTimeout(now, KEPT);
    },
    now,
  };
};
