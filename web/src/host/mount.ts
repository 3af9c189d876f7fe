/* An explorer in any element of any page: what a notebook, a bare page or another program calls. */

import { enter, playing } from "../dom/scene";
import type { Tables } from "../dom/scene";
import type { Theme } from "../dom/screen";
import type { Language } from "../i18n/language";
import { loadPlotly } from "../plot/plotly";
import type { TracePayload } from "../protocol/messages";
import type { ExplorerServer } from "../protocol/server";
import type { View } from "../state/view";
import { Explorer, type Pick } from "../tabs/explorer/explorer";

export interface MountOptions {
  /** What is shown first, as `translator.ui.payload.trace_payload` makes it. */
  trace?: TracePayload;
  /** What gives exact arrays and the offline page; without it they are left out where the trace has not all of them. */
  server?: ExplorerServer;
  /** By default as light as the system is set. */
  theme?: Theme;
  /** By default the browser's, or English. */
  language?: Language;
  /** Words of the other languages; without them all is said in English. */
  tables?: Tables;
  /** Told after each choice of a kind of attention, a layer, a head, a step or a query. */
  onPick?: (pick: Pick) => void;
  /** Where plotly.js is, if the page does not bring it as `window.Plotly`. */
  plotly?: string;
}

export interface Handle {
  /** Show another translation. */
  show(trace: TracePayload): void;
  /** Choose for the reader; `onPick` is told of it. */
  pick(view: Partial<View>): void;
  setTheme(theme: Theme): void;
  setLanguage(language: Language): void;
  /** Leave nothing behind: no element, no listener, no timer, no style. */
  destroy(): void;
}

const system = (): Theme => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** plotly.js is asked for once, however many explorers there are. */
const asked = new Set<string>();
const bringPlotly = (address: string, lost: (why: string) => void): void => {
  if (window.Plotly || asked.has(address)) return;
  asked.add(address);
  loadPlotly(address, lost);
};

/** Put an explorer into an element. The style sheet must be there: the module `embed` brings it along. */
export const mount = (element: HTMLElement, options: MountOptions = {}): Handle => {
  const before = playing();
  const root = document.createElement("div");
  root.className = "attention-explorer";
  root.classList.toggle("dark", (options.theme ?? system()) === "dark");
  element.append(root);
  const scene = {
    root,
    language: options.language ?? null,
    tables: options.tables ?? null,
  };
  const { server, onPick } = options;
  const explorer = new Explorer(root, { server, onPick, scene });
  if (options.plotly) bringPlotly(options.plotly, (why) => explorer.notice(why, true));
  if (options.trace) explorer.show(options.trace);
  enter(before);
  return {
    show: (trace) => explorer.show(trace),
    pick: (view) => explorer.set(view),
    setTheme: (theme) => {
      root.classList.toggle("dark", theme === "dark");
      explorer.changedTheme();
    },
    setLanguage: (language) => {
      scene.language = language;
      explorer.changedLanguage();
    },
    destroy: () => {
      explorer.destroy();
      root.remove();
      enter(before);
    },
  };
};
