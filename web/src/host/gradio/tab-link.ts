/* A link to what stands in another tab opens that tab: a station of the lesson, a comparison,
   positions. */

import { openTab } from "../../dom/tab";
import { tables } from "../../i18n/language";
import { comparisonInLink } from "../../state/compare-link";
import { stationInLink } from "../../state/permalink";
import { positionsInLink } from "./positions-link";

interface Linked {
  id: string;
  name: string;
  /** What is there once the tab was built. */
  there: string;
  asked: () => unknown;
}

const TABS: Linked[] = [
  { id: "lesson-tab", name: "Lesson", there: ".lx", asked: stationInLink },
  { id: "compare-tab", name: "Compare", there: ".cx", asked: comparisonInLink },
  { id: "positions-tab", name: "Positions", there: "#position-link", asked: positionsInLink },
];
const TRIES = 100;
const BETWEEN = 100; // ms

/**
 * Open the tab as soon as Gradio has drawn the tabs; on a narrow page it may stand in their menu.
 */
export const followTab = (tries = 0): void => {
  const tab = TABS.find(({ asked }) => asked());
  if (!tab) return;
  openTab(tab.id, [tab.name, ...Object.values(tables()).map((table) => table[tab.name])]);
  if (tries < TRIES && !document.querySelector(tab.there))
    setTimeout(() => followTab(tries + 1), BETWEEN);
};
