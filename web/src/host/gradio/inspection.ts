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

export const makeInspection = (x: Explorer, server: ExplorerServer | null): (() => void) => {
  let waiting = 0;
  let pending: { text: string; way: string } | null = null;
  const isShown = (text: string, way: string) =>
    x.trace && !x.trace.live && text === x.trace.source && way === x.trace.direction;
  let known: { text: string; way: string; facts: Facts } | null = null;
  const isKnown = (text: string, way: string, shown: boolean) =>
    known?.text === text && known.way === way && (shown || x.health.holds(known.facts));
  const typed = () => field("source-text")?.value || "";
  const look = async () => {
    const text = typed();
    const way = direction();
    const shown = isShown(text, way);
    if (shown) x.health.show(x.trace);
    if (!shown && !text.trim()) return x.health.facts(NOTHING);
    // a quick press is looked at after it: what language is it?
    if (!server || isKnown(text, way, shown)) return;
    if (pending?.text === text && pending.way === way) return;
    const question = (pending = { text, way });
    const tell = (facts: Facts) => {
      const stands = question === pending && text === typed() && way === direction();
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
      if (question === pending) pending = null;
    }
  };
  return () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void look(), REST);
  };
};
