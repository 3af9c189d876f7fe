/* What Gradio calls when the explorer is there. */

import type { Explorer } from "../../tabs/explorer/explorer";
import type { Fields } from "./opening";

/** The number of a run, the fields to open with, and the start. */
export const entry: {
  run: (() => number) | null;
  opened: ((current: Fields) => Fields) | null;
  go: (() => Promise<void>) | null;
  explorer: Explorer | null;
} = { run: null, opened: null, go: null, explorer: null };
