/* The large map once plotly.js draws it: what is asked of plotly.js, and what hands and keys do. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Figure, PlotNode } from "../../plot/plotly";
import { blankCanvases, TestContext } from "../../test/context";
import { makeHeatmap } from "./heatmap";

const CELL = 10;
let x: TestContext;
let heard: Map<Element, (change: object) => void>;
const react = vi.fn();
const restyle = vi.fn(async (node: Element) => node);
const relayout = vi.fn(async (node: Element) => node);

/** An axis as Plotly lays it out for a range, ten pixels a cell. */
const axis = ([low, high]: [number, number]) => {
  const first = Math.min(low, high);
  return {
    ...{ _offset: 0, _length: Math.abs(high - low) * CELL, range: [low, high] },
    l2p: (place: number) => (place - first) * CELL,
    p2l: (pixel: number) => pixel / CELL + first,
  };
};
beforeEach(() => {
  blankCanvases();
  vi.useFakeTimers();
  for (const mock of [react, restyle, relayout]) mock.mockClear();
  heard = new Map();
  react.mockImplementation((node: PlotNode, data: Figure["data"], layout: Figure["layout"]) => {
    const { xaxis, yaxis } = layout;
    Object.assign(node, {
      ...{ data, _fullLayout: { xaxis: axis(xaxis.range), yaxis: axis(yaxis.range) } },
      on: (_: string, listener: (change: object) => void) => heard.set(node, listener),
    });
  });
  window.Plotly = { react, restyle, relayout } as never;
  show(new TestContext());
});
const show = (context: TestContext) => {
  x = context;
  x.shows(makeHeatmap);
  vi.advanceTimersByTime(100);
};
afterEach(() => {
  x.life.abort();
  vi.useRealTimers();
  vi.restoreAllMocks();
  delete window.Plotly;
});
const box = () => x.find("#attention-detail");
const plot = () => box().querySelector<PlotNode>(".plot")!;
const drawn = () => react.mock.lastCall![1][0].z as number[][];
const key = (name: string) =>
  box().dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true }));
const button = (name: string) => box().querySelector<HTMLButtonElement>(`.${name}`)!;

describe("the map", () => {
  it("is drawn once, with the cells of the chosen head", () => {
    expect(react).toHaveBeenCalledTimes(1);
    expect(drawn()).toEqual(x.picture().z);
    expect(box().getAttribute("aria-label")).toContain(x.headName());
    x.set({ step: 2 });
    x.set({ hover: { i: 0, j: 0 } });
    expect(react).toHaveBeenCalledTimes(1);
  });

  it("of another head is the same plot with other cells", () => {
    x.set({ head: (x.state.head + 1) % x.trace.maps.cross.heads });
    expect(react).toHaveBeenCalledTimes(1);
    expect(restyle.mock.lastCall!.slice(1)).toEqual([{ z: [x.picture().z] }, [0]]);
    expect(box().getAttribute("aria-label")).toContain(x.headName());
  });

  it("of another head is seen at once where Plotly has a picture, which is told when it must draw", () => {
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    Object.defineProperty(image, "href", { value: { baseVal: "" } });
    vi.spyOn(plot(), "querySelector").mockReturnValue(image);
    vi.spyOn(HTMLCanvasElement.prototype, "toDataURL").mockReturnValue("data:cells");
    x.set({ head: (x.state.head + 1) % x.trace.maps.cross.heads });
    expect(image.href.baseVal).not.toBe("");
    expect(plot().data[0].z).toEqual(x.picture().z);
    expect(restyle).not.toHaveBeenCalled();
    box().dispatchEvent(new PointerEvent("pointerdown"));
    expect(restyle.mock.lastCall!.slice(1)).toEqual([{ z: [x.picture().z] }, [0]]);
    box().dispatchEvent(new PointerEvent("pointerdown"));
    expect(restyle).toHaveBeenCalledTimes(1);
  });

  it("of another kind has a plot of its own, and the former comes back as it was", () => {
    const cross = plot();
    x.set({ kind: "encoder" });
    expect(plot()).not.toBe(cross);
    expect(drawn()).toEqual(x.picture().z);
    const before = react.mock.calls.length;
    x.set({ kind: "cross" });
    expect(plot()).toBe(cross);
    expect(react).toHaveBeenCalledTimes(before);
  });

  it("is drawn in other colours, and gives way to arcs", () => {
    x.set({ palette: "viridis" });
    expect(react).toHaveBeenCalledTimes(2);
    const moved = vi.spyOn(x, "moved");
    x.set({ view: "arcs" });
    expect([box().hidden, moved.mock.calls.length]).toEqual([true, 1]);
    x.set({ view: "heatmap" });
    expect(box().hidden).toBe(false);
  });

  it("has numbers in its cells while they are wished for", () => {
    const { rows, columns } = x.picture();
    const area = {
      xaxis: axis([-0.5, columns.length - 0.5]),
      yaxis: axis([rows.length - 0.5, -0.5]),
    };
    for (const each of Object.values(area)) {
      const { l2p } = each;
      Object.assign(each, { _length: 5 * each._length, l2p: (at: number) => 5 * l2p(at) });
    }
    Object.assign(plot(), { _fullLayout: area });
    x.set({ numbers: true });
    expect(box().querySelectorAll(".numbers text").length).toBeGreaterThan(0);
    x.set({ numbers: false });
    expect(box().querySelectorAll(".numbers text")).toHaveLength(0);
  });
});

describe("hands and keys", () => {
  it("go from cell to cell, choose the row, and let go of the cell", () => {
    const chosen = vi.spyOn(x, "chooseRow");
    key("ArrowDown");
    key("ArrowRight");
    expect(x.state.hover).toEqual({ i: 2, j: 1 });
    key("Enter");
    expect(chosen).toHaveBeenLastCalledWith(2, { i: 2, j: 1 });
    key("Escape");
    expect(x.state.hover).toBeNull();
  });

  it("point at the cell under them, and say it once", () => {
    const set = vi.spyOn(x, "set");
    const move = (clientX: number, clientY: number) =>
      box().dispatchEvent(new MouseEvent("mousemove", { clientX, clientY }));
    move(25, 15);
    move(26, 16);
    expect(x.state.hover).toEqual({ i: 1, j: 2 });
    expect(set).toHaveBeenCalledTimes(1);
    box().dispatchEvent(new MouseEvent("mouseleave"));
    expect(x.state.hover).toBeNull();
  });

  it("magnify by a key, and go back by the button or by Escape", () => {
    const width = () => {
      const [low, high] = react.mock.lastCall![2].xaxis.range;
      return high - low;
    };
    const whole = width();
    expect(button("reset-zoom").hidden).toBe(true);
    key("+");
    expect(width()).toBeLessThan(whole);
    expect(button("reset-zoom").hidden).toBe(false);
    button("reset-zoom").click();
    expect([width(), button("reset-zoom").hidden]).toEqual([whole, true]);
    key("+");
    key("Escape");
    expect([width(), button("reset-zoom").hidden]).toEqual([whole, true]);
  });

  it("that zoom in Plotly itself can go back too", () => {
    plot()._fullLayout = { xaxis: axis([0.5, 2.5]), yaxis: axis([2.5, 0.5]) } as never;
    heard.get(plot())!({ "xaxis.range[0]": 0.5 });
    expect(button("reset-zoom").hidden).toBe(false);
    heard.get(plot())!({ "shapes[0]": 1 }); // nothing of axes
    button("reset-zoom").click();
    expect(button("reset-zoom").hidden).toBe(true);
  });
});

describe("a map that is larger than its frame", () => {
  const big = () => {
    x.life.abort();
    const context = new TestContext("de-en-books-all");
    const small = { width: 260, room: 190 };
    vi.spyOn(context, "places").mockReturnValue({ mosaic: small, detail: small });
    show(context);
  };
  const range = () => react.mock.lastCall![2].yaxis.range as [number, number];

  it("is scrolled to the row that is chosen", () => {
    big();
    const last = x.picture().rows.length - 1;
    expect(range()[0]).toBeLessThan(last);
    x.set({ step: last });
    expect(range()[0]).toBe(last + 0.5);
  });

  it("follows its bars, a frame later", async () => {
    big();
    const bar = box().querySelector<HTMLElement>(".scroll-y")!;
    expect(bar.hidden).toBe(false);
    x.set({ step: 0 });
    bar.scrollTop = 1000;
    bar.dispatchEvent(new Event("scroll"));
    bar.dispatchEvent(new Event("scroll"));
    vi.advanceTimersToNextFrame();
    const last = x.picture().rows.length - 0.5;
    expect(relayout).toHaveBeenCalledTimes(1);
    const [, ends] = relayout.mock.lastCall as unknown as [Element, Record<string, number[]>];
    expect(ends["yaxis.range"][0]).toBe(last);
  });

  it("may be fitted into it, and be read again", () => {
    big();
    const fit = button("fit-map");
    expect([fit.hidden, fit.getAttribute("aria-pressed")]).toEqual([false, "false"]);
    fit.click();
    expect(x.state.fit).toBe(true);
    expect(range()[0]).toBe(x.picture().rows.length - 0.5);
    expect([fit.hidden, fit.getAttribute("aria-pressed")]).toEqual([false, "true"]);
    fit.click();
    expect(x.state.fit).toBe(false);
  });
});
