/* The one entry: what a page may call. */

import { copyText } from "./dom/clipboard";
import { whenIdle } from "./dom/screen";
import { translateToasts } from "./host/gradio/connection";
import { entry } from "./host/gradio/entry";
import { mountExplorer } from "./host/gradio/explorer";
import { type Asks, directionIn, keepLanguages } from "./host/gradio/direction";
import {
  direction,
  dressFields,
  field,
  offers,
  pageSettled,
  setDirection,
  setField,
} from "./host/gradio/fields";
import { endLoadingClock } from "./host/gradio/frames";
import { copyPositionsLink, followPositions } from "./host/gradio/positions-link";
import { followTab } from "./host/gradio/tab-link";
import { type Fields, opensWith } from "./host/gradio/opening";
import { fetchAhead } from "./host/gradio/stored";
import { mount } from "./host/mount";
import { mountOffline } from "./host/offline/offline";
import { mountPlot } from "./plot/figure";
import { loadPlotly } from "./plot/plotly";
import type { LabServer } from "./protocol/lab";
import type { LessonServer } from "./protocol/lesson";
import { askLab } from "./state/ask";
import { readLabLink } from "./state/lab-link";
import { mountChrome } from "./tabs/chrome/chrome";
import { mountCompare } from "./tabs/compare/compare";
import { mountLab } from "./tabs/lab/lab";
import { mountLesson } from "./tabs/lesson/lesson";
import { plainTrace } from "./trace/plain";
import { type PageFields, type Props, type Watch, pageData } from "./tabs/page";

const fields: PageFields = {
  field,
  setField,
  direction,
  setDirection,
  offers,
  settled: pageSettled,
};
/** Radios of the two sides of Compare. */
const SIDES = ["compare-direction-a", "compare-direction-b"];
const BETWEEN = 50; // ms

const entries = {
  mount,
  /* what Gradio's components mount */
  explorer: mountExplorer,
  chrome: (element: Element) => {
    dressFields();
    mountChrome(element);
  },
  plot: (element: Element, props: Props<string>, watch: Watch) => mountPlot(element, props, watch),
  compare: (element: Element, props: Props, watch: Watch, server: Asks) => {
    mountCompare(element, props, watch, fields);
    for (const id of SIDES) {
      const below = (node: HTMLElement) =>
        document.getElementById(id)?.closest(".row")?.after(node);
      keepLanguages(id, below, server);
    }
  },
  lesson: (element: Element, server: LessonServer) => mountLesson(element, server, fields),
  lab: (element: Element, server: LabServer) => mountLab(element, server, fields),
  /* what Gradio's events call */
  copy: copyText,
  positionsLink: copyPositionsLink,
  asked: (_: unknown, text: unknown, __: unknown, ...settings: unknown[]) => [
    entry.run!(),
    text,
    direction(),
    ...settings,
  ],
  compared: (...values: unknown[]) => {
    const half = values.length / 2; // text, direction and decoding of each side
    return values.map((value, i) => (i % half === 1 ? directionIn(SIDES[(i - 1) / half]) : value));
  },
  /**
   * The page's own load may come before the component is there: wait for it, or the address would
   * be forgotten.
   */
  opened: async (...current: Fields) => {
    while (!entry.opened) await new Promise((done) => setTimeout(done, BETWEEN));
    return entry.opened(current);
  },
  go: () => {
    whenIdle(() => endLoadingClock());
    return entry.go!();
  },
  /* what an offline page calls */
  offline: () => {
    entry.explorer = mountOffline();
  },
  /** The translation that is shown, as plain arrays; null while none is whole. */
  trace: () => plainTrace(entry.explorer?.trace),
};
export type AttentionExplorer = typeof entries;

window.AttentionExplorer = entries;

const { plotly, site } = pageData(); // an offline page holds it
const first = !site && opensWith();
if (first) void fetchAhead(first.id);
if (plotly) loadPlotly(plotly, (why) => entry.explorer?.notice(why, true));

const follow = () => {
  followTab();
  followPositions();
};
addEventListener("hashchange", follow);
follow();
void pageSettled.then(translateToasts);
const question = readLabLink(location.hash);
if (question) void pageSettled.then(() => askLab(question));
