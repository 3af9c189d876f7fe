/* Translations that begin as somebody chose: with a candidate of what is shown, or as a link
   says. */

import type { Resuming } from "../../components/side/side";
import { t, tMessage } from "../../i18n/words";
import type { TracePayload } from "../../protocol/messages";
import {
  type Answer,
  type ExplorerServer,
  refused,
  type TraceRequest,
} from "../../protocol/server";
import type { Linked } from "../../state/permalink";
import type { Explorer } from "../../tabs/explorer/explorer";
import { isBusy } from "./busy";

export interface Beginning {
  /**
   * Translate on from a candidate: the translation begins with the tokens before it, and with it.
   */
  resume(chosen: Resuming): Promise<void>;
  /** Translate what a link is to. */
  follow(link: Linked): Promise<void>;
}

export interface BeginningProps {
  server: ExplorerServer;
  busy: (on: boolean) => void;
  /** Something else is asked for: its number. */
  next: () => number;
  /** The number of what was asked for last. */
  last: () => number;
  announce: (trace: TracePayload) => void;
}

export const makeBeginning = (x: Explorer, props: BeginningProps): Beginning => {
  /** Show the translation; false if it does not come, or something else was asked for since. */
  const begin = async (request: TraceRequest): Promise<boolean> => {
    const run = props.next();
    props.busy(true);
    const answer: Answer<TracePayload> = await props.server.resume(request).catch(() => ({
      error: t("No answer from the server. Please try again."),
    }));
    if (run !== props.last()) return false;
    props.busy(false);
    if (refused(answer)) x.notice(tMessage(answer.error), true);
    else {
      x.show(answer);
      props.announce(answer);
    }
    return !refused(answer);
  };
  const tell = (step: number, word: string) => {
    const said =
      "From step {step} on translated with {word}. Press Translate for the model's own choice.";
    x.notice(t(said, { step, word }));
  };
  return {
    resume: async ({ prefix, word }) => {
      if (isBusy()) return;
      const { source: text, direction, settings } = x.trace;
      if (!(await begin({ text, direction, settings, prefix }))) return;
      x.set({ step: prefix.length - 1 });
      tell(prefix.length, word);
    },
    follow: async ({ text, direction, settings, prefix }) => {
      if (await begin({ text, direction: direction!, settings, prefix }))
        tell(prefix.length, x.trace.tgt[prefix.length - 1].s);
    },
  };
};
