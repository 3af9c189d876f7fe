/* One translation by a worker of the page's own, told to the explorer as a server would tell it. */

import { t } from "../../i18n/words";
import type { TracePayload } from "../../protocol/messages";
import { makeNewest } from "../newest";
import { Stopped, type Caller } from "./client";
import type { Weights } from "./weights";

/**
 * Milliseconds between two messages of what is waited for. Weights that are kept are here before
 * the first, which moves the maps and has Plotly draw anew.
 */
const TOLD = 1000;
/**
 * Milliseconds that a step waits for newer ones: one is drawn in the time of many, a short
 * translation is whole by then, and in WebKit its last message waits for what is drawn.
 */
const HELD = 400;

/** What is to be translated, under the number by which the explorer knows the answers. */
export interface Wanted {
  run: number;
  direction: string;
  text: string;
  settings: object;
}

/**
 * Translate; `send` is told every step and the end, which is the answer too where it came to one.
 * `waiting`: what is said until the weights are here.
 */
export const translateHere = async (
  caller: Caller,
  weights: Weights,
  { run, ...given }: Wanted,
  signal: AbortSignal,
  send: (message: object) => void,
  waiting: () => string,
): Promise<TracePayload | undefined> => {
  const tell = () => send({ kind: "waiting", run, text: waiting() });
  const wait = setInterval(tell, TOLD);
  const steps = makeNewest<object>((message) => send({ ...message, run }), HELD);
  try {
    await weights.ready(given.direction, signal);
    clearInterval(wait);
    const trace = await caller.call("stream", given, { signal, step: steps.soon });
    steps.drop(); // the whole is newer
    send({ ...trace, run });
    return trace;
  } catch (error) {
    const text = error instanceof Stopped ? t("Stopped.") : (error as Error).message;
    send({ kind: "error", run, text });
    return undefined;
  } finally {
    steps.drop();
    clearInterval(wait);
  }
};
