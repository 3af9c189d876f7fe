/* What the server makes of a text while it is typed. */

import type { Facts } from "../../components/health/health";
import { languagesOf } from "../../i18n/language";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { direction, field } from "./fields";

const REST = 250; // ms without a key
const SOON = 300; // ms that an answer may take before the former text's counts go
const BLANK = {
  words: 0,
  tokens: 0,
  limit: 0,
  unknown: 0,
  changed: 0,
  normalised: "",
  problem: "",
};
const NOTHING = { ...BLANK, empty: true };
const UNCOUNTED = { ...BLANK, uncounted: true };

export const makeInspection = (
  x: Explorer,
  server: ExplorerServer | null,
): ((now?: boolean) => void) => {
  let waiting = 0;
  let asked = 0;
  const isShown = (text: string, way: string) =>
    x.trace && !x.trace.live && text === x.trace.source && way === x.trace.direction;
  let known: { text: string; way: string; facts: Facts } | null = null;
  const isKnown = (text: string, way: string) =>
    known && known.text === text && known.way === way && x.health.holds(known.facts);
  const typed = () => field("source-text")?.value || "";
  const look = async () => {
    const text = typed();
    const number = ++asked;
    const way = direction();
    if (isShown(text, way)) return x.health.show(x.trace);
    if (!text.trim()) return x.health.facts(NOTHING);
    if (!server || isKnown(text, way)) return;
    const tell = (facts: Facts) => {
      const stands = number === asked && text === typed() && way === direction();
      if (stands && !isShown(text, way)) x.health.facts(facts, languagesOf(way)[0]);
    };
    const late = setTimeout(() => tell(UNCOUNTED), SOON);
    try {
      const facts = await server.inspect({ text, direction: way });
      known = { text, way, facts };
      x.health.seems(text, way, facts);
      tell(facts);
    } catch {
      tell(UNCOUNTED);
    } finally {
      clearTimeout(late);
    }
  };
  const inspect = (now = false) => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void look(), now ? 0 : REST);
  };
  return inspect;
};
