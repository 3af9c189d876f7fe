/* plotly.js: how it comes, how every figure is set up, and what of it is used here. */

import { el } from "../dom/element";
import { t } from "../i18n/words";

/** A figure as Plotly takes it; what may stand in it is Plotly's own matter. */
export interface Figure {
  data: Record<string, any>[];

  layout: Record<string, any>;
}

/** An axis that Plotly has laid out: pixels and places of it in both directions. */
export interface Axis {
  _offset: number;
  _length: number;
  range: [number, number];
  l2p(place: number): number;
  p2l(pixel: number): number;
}

/** An element that Plotly has drawn into. */
export interface PlotNode extends HTMLElement {
  _fullLayout?: { xaxis: Axis; yaxis: Axis };
  data: Record<string, unknown>[];

  on(event: string, listener: (event: any) => void): void;
}

type Config = Record<string, unknown>;
type Size = { format: "png" | "svg"; width: number; height: number; scale?: number };

/** What of plotly.js is called here. */
export interface PlotlyApi {
  react(node: Element, data: unknown[], layout: object, config: Config): Promise<PlotNode>;
  restyle(node: Element, change: object, traces: number[]): Promise<PlotNode>;
  relayout(node: Element, change: object): Promise<PlotNode>;
  toImage(figure: Figure & { config: Config }, size: Size): Promise<string>;
  downloadImage(node: Element, size: Size & { filename: string }): Promise<string>;
  purge(node: Element): void;
}

export const PLOT_CONFIG: Config = {
  responsive: false,
  displayModeBar: false,
  displaylogo: false,
  showSendToCloud: false,
  typesetMath: false,
  doubleClick: false,
  showTips: false, // English, and over what lies there
  scrollZoom: false,
};

const TRIES = 5;
const BETWEEN = 2000; // ms

/**
 * Fetch plotly.js while Gradio builds the page, which mostly waits for small files: its own first
 * run fits in there. `lost` is told in the page's language that it never came.
 */
export const loadPlotly = (address: string, lost: (why: string) => void, tries = TRIES): void => {
  const again = () => {
    script.remove();
    if (tries > 1) setTimeout(() => loadPlotly(address, lost, tries - 1), BETWEEN);
    else lost(t("The chart library did not load. Please reload the page."));
  };
  const script = el("script", {
    src: address,
    on: { load: () => dispatchEvent(new Event("explorer-plotly")), error: again },
  });
  document.head.append(script);
};

const LATEST = 2000; // ms

/** Do, once, `when` the first map was drawn without plotly.js, or soon anyway. */
const bySketch =
  (when: (then: () => void) => void) =>
  (run: () => void): void => {
    let waits = true;
    const once = () => {
      if (waits) run();
      waits = false;
    };
    addEventListener("explorer-sketched", () => when(once), { once: true });
    setTimeout(once, LATEST);
  };

/** What others compute, and the page waits for. */
export const whenSketched = bySketch((then) => then());

const frame = (then: () => void) => requestAnimationFrame(then);

/** What takes long: the frame behind the map's has to be there, for only then it is seen. */
export const afterSketch = bySketch((then) => frame(() => frame(() => setTimeout(then))));

/** Fetch plotly.js at once, but run it, which takes long, after the first map. */
export const bringPlotly = (address: string, lost: (why: string) => void): void => {
  document.head.append(el("link", { rel: "preload", as: "script", href: address }));
  afterSketch(() => loadPlotly(address, lost));
};

/** Run once plotly.js is there; the answer takes that back. */
export const whenPlotly = (run: () => void): (() => void) => {
  if (window.Plotly) run();
  else addEventListener("explorer-plotly", run, { once: true });
  return () => removeEventListener("explorer-plotly", run);
};
