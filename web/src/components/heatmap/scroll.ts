/* Bars that scroll a map which is larger than its frame; Plotly has none of its own. */

import { el } from "../../dom/element";
import type { MapSize } from "../../plot/measure";
import type { Picture } from "../../trace/picture";
import type { First } from "./range";

export interface Scroll {
  nodes: HTMLElement[];
  /**
   * Show the bars that are needed for a map of `size` from `first` on; `width` and `height` are the
   * whole plot's.
   */
  show(
    picture: Picture,
    size: MapSize,
    first: First,
    plot: { width: number; height: number },
  ): void;
  hide(): void;
  /** Where the bars stand after they were scrolled. */
  moved(first: First, size: MapSize): First;
  /** A wheel turned over the map: true if a bar went with it. */
  wheel(event: WheelEvent): boolean;
  /** Bars that were out of sight are put in place again. */
  forget(): void;
}

/** A bar and where it was put last; null: unknown. */
interface Bar {
  node: HTMLElement;
  long: HTMLElement;
  at: number | null;
}

const makeBar = (name: string): Bar => {
  const long = el("div");
  return { node: el("div", { class: name, tabindex: "-1", hidden: true }, long), long, at: null };
};

/**
 * Scroll a bar, if it is not there by itself: to say so makes the browser lay the page out at once.
 */
const bring = (bar: Bar, way: "scrollLeft" | "scrollTop", to: number): void => {
  if (bar.at !== to) bar.node[way] = bar.at = to;
};

export const makeScroll = (scrolled: () => void): Scroll => {
  const x = makeBar("scroll-x");
  const y = makeBar("scroll-y");
  for (const bar of [x, y])
    bar.node.addEventListener("scroll", () => {
      bar.at = null;
      scrolled();
    });
  const toggle = (bar: Bar, on: boolean) => {
    bar.node.hidden = !on;
    if (!on) bar.at = null; // a hidden bar forgets where it was
  };

  const show: Scroll["show"] = (picture, size, first, plot) => {
    const { rows, columns } = picture;
    toggle(x, size.columns < columns.length);
    toggle(y, size.rows < rows.length);
    if (!x.node.hidden) {
      const width = plot.width - size.labels;
      Object.assign(x.node.style, { left: size.labels + "px", width: width + "px" });
      x.long.style.width = (width * columns.length) / size.columns + "px";
      bring(x, "scrollLeft", first.x * size.cellWidth);
    }
    if (!y.node.hidden) {
      const height = plot.height - size.top;
      const style = { top: size.top + "px", height: height + "px", left: plot.width + "px" };
      Object.assign(y.node.style, style);
      y.long.style.height = (height * rows.length) / size.rows + "px";
      bring(y, "scrollTop", first.y * size.cellHeight);
    }
  };
  const wheel = (event: WheelEvent): boolean => {
    const down = Math.abs(event.deltaY) > Math.abs(event.deltaX) && !event.shiftKey;
    const { node } = down ? y : x;
    if (node.hidden || (event.target as Element).closest(".scroll-x, .scroll-y")) return false;
    const before = [node.scrollTop, node.scrollLeft].join();
    node.scrollTop += event.deltaY;
    node.scrollLeft += event.deltaX || event.deltaY;
    return before !== [node.scrollTop, node.scrollLeft].join();
  };
  return {
    nodes: [x.node, y.node],
    show,
    hide: () => [x, y].forEach((bar) => toggle(bar, false)),
    moved: (first, size) => ({
      x: x.node.hidden ? first.x : Math.round(x.node.scrollLeft / size.cellWidth),
      y: y.node.hidden ? first.y : Math.round(y.node.scrollTop / size.cellHeight),
    }),
    wheel,
    forget: () => {
      x.at = y.at = null;
    },
  };
};
