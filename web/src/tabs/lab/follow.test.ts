import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PlotNode } from "../../plot/plotly";
import { followCells } from "./follow";

type Shape = { x0: number; x1: number; y0: number; y1: number; line: { dash: string } };
const CELLS = [
  ["a", "b", "c"],
  ["d", "e", "f"],
];
let plot: PlotNode;
let shapes: Shape[];
let taken: unknown[];
let clicked: (event: object) => void;
beforeEach(() => {
  vi.useFakeTimers();
  taken = [];
  shapes = [];
  plot = document.createElement("div") as unknown as PlotNode;
  plot._fullLayout = {} as never;
  plot.on = (_, listener) => void (clicked = listener);
  document.body.replaceChildren(plot);
  window.Plotly = {
    relayout: async (_: unknown, change: { shapes: Shape[] }) => void (shapes = change.shapes),
  } as never;
});
afterEach(() => {
  plot.remove();
  dispatchEvent(new Event("lab-followed")); // it goes with its figure
  delete window.Plotly;
  vi.useRealTimers();
});
const toggle = (cell: unknown) => {
  taken = taken.includes(cell) ? taken.filter((each) => each !== cell) : [...taken, cell];
  dispatchEvent(new Event("lab-followed"));
};
const follow = () => followCells(plot, { cells: CELLS, chosen: () => taken, toggle });
const key = (name: string) => {
  const event = new KeyboardEvent("keydown", { key: name, cancelable: true });
  plot.dispatchEvent(event);
  return event.defaultPrevented;
};
/** Frames as [row, column, dash]. */
const frames = () =>
  shapes.map(({ x0, x1, y0, y1, line }) => {
    expect([x1 - x0, y1 - y0]).toEqual([1, 1]);
    return [y0 + 0.5, x0 + 0.5, line.dash];
  });

describe("cells that can be taken", () => {
  it("are taken by a click, given back by another, and framed", () => {
    follow();
    clicked({ points: [{ x: 1, y: 0 }] });
    clicked({ points: [{ x: 2, y: 1 }] });
    expect(taken).toEqual(["b", "f"]);
    expect(frames()).toEqual([
      [0, 1, "solid"],
      [1, 2, "solid"],
    ]);
    clicked({ points: [{ x: 1, y: 0 }] });
    for (const points of [[{ x: 9, y: 9 }], [{ x: 9, y: 0 }], []]) {
      clicked({ points });
      expect(taken).toEqual(["f"]);
    }
  });

  it("are walked through by arrow keys, not over the edge, and taken by Enter or a space", () => {
    follow();
    plot.dispatchEvent(new Event("focus"));
    expect(frames()).toEqual([[0, 0, "dot"]]);
    for (const name of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft"])
      expect(key(name)).toBe(true);
    expect(frames()).toEqual([[0, 0, "dot"]]);
    for (const name of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"]) key(name);
    expect(frames()).toEqual([[1, 2, "dot"]]);
    expect([key("Enter"), taken]).toEqual([true, ["f"]]);
    expect(frames()).toEqual([
      [1, 2, "solid"],
      [1, 2, "dot"],
    ]);
    expect([key(" "), taken]).toEqual([true, []]);
    expect(key("Tab")).toBe(false);
  });

  it("show no cursor once the keyboard is elsewhere", () => {
    follow();
    plot.dispatchEvent(new Event("focus"));
    plot.dispatchEvent(new Event("blur"));
    expect(frames()).toEqual([]);
    expect(plot.tabIndex).toBe(0);
  });

  it("wait until Plotly has drawn, and not for a figure that has gone", () => {
    delete plot._fullLayout;
    follow();
    expect(key("ArrowRight")).toBe(false);
    plot._fullLayout = {} as never;
    vi.advanceTimersToNextFrame();
    expect(key("ArrowRight")).toBe(true);
    plot.remove();
    shapes = [];
    dispatchEvent(new Event("lab-followed"));
    expect(shapes).toEqual([]);
    follow();
    expect(vi.getTimerCount()).toBe(0);
  });
});
