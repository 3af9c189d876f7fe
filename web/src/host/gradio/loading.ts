/* The model loads behind the page: say so until it is there, and say why if it will not come. */

import { sentence } from "../../format/text";
import { t, tMessage } from "../../i18n/words";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { direction } from "./fields";

const AGAIN = 1000; // ms between two questions

/** What looks whether the chosen direction's model is there. */
export const makeLoading = (x: Explorer, server: ExplorerServer | null): (() => void) => {
  let polling = 0;
  let since = 0;
  let told = "";
  const stateOf = async (way: string): Promise<string> => {
    try {
      return server ? (await server.ready({ direction: way })).state : "ready";
    } catch {
      return ""; // asked again below
    }
  };
  const tell = (text: string, isError: boolean) => {
    told = sentence(text);
    x.notice(text, isError);
  };
  const look = async () => {
    clearTimeout(polling);
    const way = direction();
    const state = await stateOf(way);
    if (way !== direction()) return;
    const present = x.find(".notice").textContent;
    const mine = !present || present === told;
    if (state === "ready") {
      since = 0;
      if (told && mine) x.notice("");
      told = "";
      return;
    }
    since ||= performance.now();
    const waits = state === "" || state === "loading";
    const n = Math.round((performance.now() - since) / 1000);
    const loading =
      "The model {name} is loading ({n} s). What is shown can be explored; Translate waits for it.";
    if (mine && waits && n >= 1) tell(t(loading, { name: way, n }), false);
    else if (mine && !waits) tell(tMessage(state), true);
    if (waits) polling = window.setTimeout(() => void look(), AGAIN);
  };
  return () => void look();
};
