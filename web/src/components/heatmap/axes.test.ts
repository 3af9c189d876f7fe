import { describe, expect, it } from "vitest";
import type { PlotNode } from "../../plot/plotly";
import type { Picture } from "../../trace/picture";
import { type Axes, axesOf, cellArea, cellAt } from "./axes";

/** Ten pixels a cell, from -0.5 on, `offset` away from the edge, of which `length` are in sight. */
const axis = (offset: number, length: number) => ({
  _offset: offset,
  _length: length,
  l2p: (at: number) => 10 * (at + 0.5),
  p2l: (px: number) => px / 10 - 0.5,
});
const axes = { x: axis(100, 40), y: axis(50, 30) } as unknown as Axes;
const plot = document.createElement("div") as unknown as PlotNode;
const picture = { rows: [{}, {}, {}], columns: [{}, {}, {}, {}] } as unknown as Picture;
const at = (clientX: number, clientY: number) =>
  cellAt(plot, picture, new MouseEvent("mousemove", { clientX, clientY }));

describe("places in pixels", () => {
  it("are those of Plotly's axes, cut at the edges", () => {
    expect(cellArea(axes, 1, 0, 1)).toEqual({ left: 100, right: 120, top: 60, bottom: 70 });
    expect(cellArea(axes, 2, 3, 9)).toEqual({ left: 130, right: 140, top: 70, bottom: 80 });
  });

  it("are none before Plotly has drawn", () => {
    expect(axesOf(plot)).toBeNull();
    expect(at(105, 55)).toBeNull();
  });

  it("say which cell is pointed at, if any", () => {
    Object.assign(plot, { _fullLayout: { xaxis: axes.x, yaxis: axes.y } });
    expect(at(105, 55)).toEqual({ i: 0, j: 0 });
    expect(at(134, 79)).toEqual({ i: 2, j: 3 });
    expect(at(99, 60)).toBeNull();
    expect(at(105, 81)).toBeNull();
  });
});
