/* What the server makes of a text while it is typed. */

import { languagesOf } from "../../i18n/language";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { direction, field } from "./fields";

const REST = 250; // ms without a key
/** Nothing was typed. */
const NOTHING = {
  empty: true,
  words: 0,
  tokens: 0,
  limit: 0,
  unknown: 0,
  changed: 0,
  normalised: "",
  problem: "",
};

export const makeInspection = (x: Explorer, server: ExplorerServer | null): (() => void) => {
  let waiting = 0;
  let asked = 0;
  const isShown = (text: string, way: string) =>
    x.trace && !x.trace.live && text === x.trace.source && way === x.trace.direction;
  const look = async () => {
    const text = field("source-text")?.value || "";
    const number = ++asked;
    const way = direction();
    if (isShown(text, way)) return x.health.show(x.trace);
    if (!text.trim()) return x.health.facts(NOTHING);
    if (!server) return;
    try {
      const facts = await server.inspect({ text, direction: way });
      if (number === asked && !isShown(text, way)) x.health.facts(facts, languagesOf(way)[0]);
    } catch {
      /* the strip keeps what it last knew */
    }
  };
  const inspect = () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void look(), REST);
  };
  return inspect;
};
