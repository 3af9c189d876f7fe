import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mount, mountComparison } from "./embed";
import { paintedWhole } from "./test/context";
import { payload } from "./test/example";
import { sketchPlotly } from "./test/plotly";
import { standing } from "./test/standing";

paintedWhole();
beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = "<h1>A page of others</h1><div></div><div></div>";
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  delete window.Plotly;
});

const styles = () => document.querySelectorAll("style").length;
const KINDS: Record<string, (element: HTMLElement) => { destroy(): void }> = {
  explorer: (element) => {
    const handle = mount(element, { trace: payload() });
    vi.advanceTimersByTime(100);
    handle.pick({ kind: "encoder", head: 1, step: 2 });
    return handle;
  },
  comparison: (element) => {
    sketchPlotly();
    return mountComparison(element, { traces: [payload(), payload("de-en-in-dem")] });
  },
};

describe.each(Object.entries(KINDS))("the module's %s", (_, place) => {
  it("leaves the page as it was: no listener, no timer, no watcher, no style, no element", () => {
    const before = document.documentElement.outerHTML;
    const left = standing();
    const handle = place(document.querySelector("div")!);
    vi.advanceTimersByTime(50); // something is still to be done
    expect([styles(), left().includes("explorer-language")]).toEqual([1, true]);
    handle.destroy();
    expect(left()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(document.documentElement.outerHTML).toBe(before);
  });

  it("keeps its style for as long as another one needs it", () => {
    const handles = [...document.querySelectorAll("div")].slice(0, 2).map(place);
    handles[0].destroy();
    handles[0].destroy(); // twice is once
    expect(styles()).toBe(1);
    handles[1].destroy();
    expect(styles()).toBe(0);
  });
});
