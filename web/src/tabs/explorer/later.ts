/* What is asked for once a translation is shown: marks after a moment, ALTI+ when it is chosen. */

import { t, tMessage } from "../../i18n/words";
import { floatsOf } from "../../protocol/decode";
import { KINDS, type Kind } from "../../protocol/messages";
import { type ExplorerServer, refused } from "../../protocol/server";
import type { ExplorerContext, Part } from "../../state/context";
import { requestOf } from "../../trace/request";
import type { Translation } from "../../trace/translation";

type Needs = Pick<ExplorerContext, "state" | "trace" | "set" | "signal" | "enter"> & {
  notice(text: string, isError?: boolean): void;
  health: { marked(trace: Translation): void };
};

const REST = 600; // ms that a translation is shown before more is asked about it

export const makeLater = (x: Needs, server: ExplorerServer | null): Part => {
  let timer = 0;
  let asking: Translation | null = null;
  x.signal.addEventListener("abort", () => clearTimeout(timer));

  const look = async (trace: Translation) => {
    try {
      const answer = await server!.left_out!(requestOf(trace));
      if (refused(answer) || x.trace !== trace || x.signal.aborted) return;
      trace.marks = answer;
      x.enter();
      x.set({ marks: {} });
      x.health.marked(trace);
    } catch {
      /* the translation stands without marks */
    }
  };
  const soon = () => {
    clearTimeout(timer);
    const { trace } = x;
    if (trace.live || trace.marks || !server?.left_out) return;
    timer = window.setTimeout(() => void look(trace), REST);
  };

  const giveUp = (text: string) => {
    x.enter();
    x.set({ aggregate: "layer-mean" });
    if (text) x.notice(text, true);
  };
  const contribute = async (trace: Translation) => {
    if (!server?.alti) return giveUp("");
    asking = trace;
    try {
      const answer = await server.alti(requestOf(trace));
      if (x.trace !== trace || x.signal.aborted) return;
      if (refused(answer)) return giveUp(tMessage(answer.error));
      const maps = KINDS.map((kind) => [kind, floatsOf(answer[kind], "f32")] as const);
      trace.contributions = Object.fromEntries(maps) as Record<Kind, Float32Array>;
      x.set({ aggregate: x.state.aggregate });
    } catch {
      if (x.trace === trace) giveUp(t("No answer from the server. Please try again."));
    } finally {
      if (asking === trace) asking = null;
    }
  };

  return {
    needs: ["trace", "view", "aggregate"],
    paint: (changed) => {
      const { trace, state } = x;
      if (changed.has("trace")) soon();
      const wanted = state.view === "aggregate" && state.aggregate === "alti";
      if (wanted && !trace.live && !trace.contributions && asking !== trace) void contribute(trace);
    },
  };
};
