/* An explorer in any element of any page: what a notebook, a bare page or another program calls. */

import { type Scene, enter, playing } from "../dom/scene";
import type { Tables } from "../dom/scene";
import type { Theme } from "../dom/screen";
import type { Language } from "../i18n/language";
import { loadPlotly } from "../plot/plotly";
import type { TracePayload } from "../protocol/messages";
import type { ExplorerServer } from "../protocol/server";
import type { View } from "../state/view";
import { Comparison } from "../tabs/compare/comparison";
import type { ComparisonOptions, ComparisonPick } from "../tabs/compare/options";
import { Explorer } from "../tabs/explorer/explorer";
import type { Pick } from "../tabs/explorer/options";

/** What any of them is told of the page that it stands on. */
interface PageOptions {
  /** By default as light as the system is set. */
  theme?: Theme;
  /** By default the browser's, or English. */
  language?: Language;
  /** Words of the other languages; without them all is said in English. */
  tables?: Tables;
  /** Where plotly.js is, if the page does not bring it as `window.Plotly`. */
  plotly?: string;
}

export interface MountOptions extends PageOptions {
  /** What is shown first, as `translator.ui.payload.trace_payload` makes it. */
  trace?: TracePayload;
  /**
   * What gives exact arrays and the offline page; without it they are left out where the trace has
   * not all of them.
   */
  server?: ExplorerServer;
  /** Told after each choice of a kind of attention, a layer, a head, a step, a query or a cell. */
  onPick?: (pick: Pick) => void;
}

export interface ComparisonMountOptions extends PageOptions {
  /** The two translations, as `translator.ui.payload.trace_payload` makes them. */
  traces: [a: TracePayload, b: TracePayload];
  /** Told after each choice of a kind of attention, a layer, a head or a step. */
  onPick?: (pick: ComparisonPick) => void;
  /** Of translations that have not all their maps: gives those of some heads of one side. */
  maps?: ComparisonOptions["maps"];
  /** How far the heads are apart, if it was counted where all maps are. */
  distances?: ComparisonOptions["distances"];
}

/** What can be done with whatever was mounted. */
interface Mounted {
  setTheme(theme: Theme): void;
  setLanguage(language: Language): void;
  /** Leave nothing behind: no element, no listener, no timer, no style. */
  destroy(): void;
}

export interface Handle extends Mounted {
  /** Show another translation. */
  show(trace: TracePayload): void;
  /** Choose for the reader; `onPick` is told of it. */
  pick(view: Partial<View>): void;
}

export interface ComparisonHandle extends Mounted {
  /** Choose for the reader; `onPick` is told of it. */
  pick(view: Partial<ComparisonPick>): void;
}

const system = (): Theme => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** plotly.js is asked for once, however many explorers there are. */
const asked = new Set<string>();
const bringPlotly = (address: string, lost: (why: string) => void): void => {
  if (window.Plotly || asked.has(address)) return;
  asked.add(address);
  loadPlotly(address, lost);
};

/** What is put into an element: the explorer, or a comparison. */
interface Guest {
  notice(text: string, isError?: boolean): void;
  changedTheme(): void;
  changedLanguage(): void;
  destroy(): void;
}

/** Put a guest into an element, with a theme and a language of its own. */
const settle = <G extends Guest>(
  element: HTMLElement,
  options: PageOptions,
  make: (root: HTMLElement, scene: Scene) => G,
  begin: (guest: G) => void,
): { guest: G } & Mounted => {
  const before = playing();
  const root = document.createElement("div");
  root.className = "attention-explorer";
  root.classList.toggle("dark", (options.theme ?? system()) === "dark");
  element.append(root);
  const scene: Scene = {
    root,
    width: root.clientWidth,
    language: options.language ?? null,
    tables: options.tables ?? null,
  };
  // Before the guest watches its own size, so that it finds the new width.
  const sizes = new ResizeObserver(() => (scene.width = root.clientWidth));
  sizes.observe(root);
  const guest = make(root, scene);
  if (options.plotly) bringPlotly(options.plotly, (why) => guest.notice(why, true));
  begin(guest);
  enter(before);
  return {
    guest,
    setTheme: (theme) => {
      root.classList.toggle("dark", theme === "dark");
      guest.changedTheme();
    },
    setLanguage: (language) => {
      scene.language = language;
      guest.changedLanguage();
    },
    destroy: () => {
      guest.destroy();
      sizes.disconnect();
      root.remove();
      enter(before);
    },
  };
};

/**
 * Put an explorer into an element. The style sheet must be there: the module `embed` brings it
 * along.
 */
export const mount = (element: HTMLElement, options: MountOptions = {}): Handle => {
  const { server, onPick, trace } = options;
  const { guest, ...mounted } = settle(
    element,
    options,
    (root, scene) => new Explorer(root, { server, onPick, scene }),
    (explorer) => trace && explorer.show(trace),
  );
  return {
    ...mounted,
    show: (payload) => guest.show(payload),
    pick: (view) => guest.pick(view),
  };
};

/**
 * Put two translations beside each other into an element. The style sheet must be there, as for
 * `mount`.
 */
export const mountComparison = (
  element: HTMLElement,
  options: ComparisonMountOptions,
): ComparisonHandle => {
  const { onPick, traces, maps, distances } = options;
  const { guest, ...mounted } = settle(
    element,
    options,
    (root, scene) => new Comparison(root, { onPick, scene, maps, distances }),
    (comparison) => comparison.show(...traces),
  );
  return { ...mounted, pick: (view) => guest.pick(view) };
};
