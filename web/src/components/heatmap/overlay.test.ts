/* What lies over a map, and the numbers in its cells, on axes of ten pixels a cell. */

import { beforeEach, describe, expect, it } from "vitest";
import { lookup } from "../../design/colour";
import type { MapSize } from "../../plot/measure";
import type { PlotNode } from "../../plot/plotly";
import type { Picture } from "../../trace/picture";
import type { Axes } from "./axes";
import { makeNumbers, type NumbersView } from "./numbers";
import { makeOverlay, type Overlay, type OverlayView } from "./overlay";

const CELL = 40;
const [ROWS, COLUMNS] = [3, 4];
const [LEFT, TOP] = [100, 50];
const group = (id: number) => ({ ids: [id], text: `t${id}`, special: false, unknown: false });
const pictureOf = (causal = false): Picture => ({
  rows: Array.from({ length: ROWS }, (_, i) => group(i)),
  columns: Array.from({ length: COLUMNS }, (_, j) => group(10 + j)),
  z: [
    [0.5, 0.25, 0.001, 0],
    [0, 1, 0, 0],
    [0, 0, 0.75, 0.25],
  ],
  masked: (i, j) => causal && j > i,
  hidden: 0,
});
const axis = (offset: number, count: number, first = 0, shown = count) => ({
  ...{ _offset: offset, _length: CELL * shown },
  range: [first - 0.5, first + shown - 0.5] as [number, number],
  l2p: (at: number) => CELL * (at - first + 0.5),
  p2l: (px: number) => px / CELL + first - 0.5,
});
const axesOf = (first = 0, shown = COLUMNS): Axes => ({
  x: axis(LEFT, COLUMNS, first, shown),
  y: axis(TOP, ROWS),
});

describe("the overlay", () => {
  let overlay: Overlay;
  let box: HTMLElement;
  let plot: PlotNode;
  beforeEach(() => {
    overlay = makeOverlay();
    box = document.createElement("div");
    plot = document.createElement("div") as unknown as PlotNode;
    plot.innerHTML =
      '<g class="yaxislayer-above">' +
      '<g class="ytick"><text></text></g>'.repeat(ROWS) +
      '</g><g class="xaxislayer-above">' +
      '<g class="xtick"><text></text></g>'.repeat(COLUMNS);
    box.append(plot, ...overlay.nodes);
    document.body.replaceChildren(box);
    const { x: xaxis, y: yaxis } = axesOf();
    plot._fullLayout = { xaxis, yaxis };
    overlay.put({ left: LEFT, top: TOP, width: 160, height: 120 }, true);
  });
  const paint = (more: Partial<OverlayView> = {}) =>
    overlay.paint({
      ...{ plot, picture: pictureOf(true), size: { cellWidth: CELL, cellHeight: CELL } as MapSize },
      ...{ row: 1, hover: null, pins: { rows: [], columns: [] }, veiled: false, numbers: null },
      ...more,
    });
  const node = (name: string) => box.querySelector<HTMLElement>(`.${name}`)!;
  /** Where a frame lies: left, top, width and height; null: it is hidden. */
  const place = (frame: HTMLElement) => {
    const { left, top, width, height } = frame.style;
    return frame.hidden ? null : [left, top, width, height].map(parseFloat);
  };

  it("frames the present row, the cell pointed at, and what is pinned", () => {
    paint({ hover: { i: 2, j: 3 }, pins: { rows: [0], columns: [12] } });
    expect(place(node("row-frame"))).toEqual([98, 88, 164, 44]);
    expect(place(node("cell-frame"))).toEqual([219, 129, 42, 42]);
    expect([...box.querySelectorAll<HTMLElement>(".pin-frame")].map(place)).toEqual([
      [100, 50, 160, 40],
      [180, 50, 40, 120],
    ]);
    paint({ row: -1 });
    expect([node("row-frame"), node("cell-frame")].map(place)).toEqual([null, null]);
    expect(box.querySelector(".pin-frame")).toBeNull();
  });

  it("has no frame for a cell that the map does not have, or that is out of sight", () => {
    paint({ hover: { i: 2, j: 9 } });
    expect(place(node("cell-frame"))).toBeNull();
    const { x: xaxis, y: yaxis } = axesOf(2, 2);
    plot._fullLayout = { xaxis, yaxis };
    paint({ hover: { i: 2, j: 0 } });
    expect(place(node("cell-frame"))).toBeNull();
    paint({ hover: { i: 2, j: 3 } });
    expect(place(node("cell-frame"))).toEqual([139, 129, 42, 42]);
  });

  it("veils the rows after the present one during a replay", () => {
    paint({ veiled: true });
    expect(place(node("veil"))).toEqual([100, 130, 160, 40]);
    paint({ veiled: true, row: 2 });
    expect(place(node("veil"))).toBeNull();
    paint({ veiled: false });
    expect(place(node("veil"))).toBeNull();
  });

  it("rules lines between the cells, wherever they are", () => {
    const path = () => node("between").querySelector("path")!.getAttribute("d")!;
    paint();
    expect(path().match(/M[\d.]+ 0V120/g)).toHaveLength(COLUMNS + 1);
    expect(path().match(/M0 [\d.]+H160/g)).toEqual(
      [0, 40, 80, 120].map((at) => `M0 ${at.toFixed(2)}H160`),
    );
    const { x: xaxis, y: yaxis } = axesOf(1, 2);
    plot._fullLayout = { xaxis, yaxis };
    paint();
    expect(path().match(/M[\d.]+ 0V/g)).toEqual(["M0.00 0V", "M40.00 0V", "M80.00 0V"]);
  });

  it("hatches the future of a decoder, and nothing of others", () => {
    paint();
    const corners = [...node("hatch").style.clipPath.matchAll(/(\d+)px (\d+)px/g)];
    // each row's future begins one cell further to the right
    expect(corners.slice(0, 6).map(([, x, y]) => [Number(x), Number(y)])).toEqual([
      ...[[40, 0], [40, 40], [80, 40], [80, 80], [120, 80], [120, 120]], // prettier-ignore
    ]);
    paint({ picture: pictureOf(false) });
    expect(node("hatch").style.clipPath).toBe("inset(100%)");
    overlay.put({ left: LEFT, top: TOP, width: 160, height: 120 }, false);
    expect(node("hatch").hidden).toBe(true);
  });

  it("marks the names of the present row and of the column pointed at", () => {
    const marked = (name: string, axis: string) =>
      [...plot.querySelectorAll(`.${axis} text`)].findIndex((text) =>
        text.classList.contains(name),
      );
    paint({ hover: { i: 0, j: 2 } });
    expect([marked("now", "ytick"), marked("pointed", "xtick")]).toEqual([1, 2]);
    paint({ row: 2 });
    expect([marked("now", "ytick"), marked("pointed", "xtick")]).toEqual([2, -1]);
  });

  it("does nothing before Plotly has drawn", () => {
    delete plot._fullLayout;
    paint();
    expect(node("row-frame").style.left).toBe("");
  });

  it("writes numbers where they are asked for, and takes them away", () => {
    const picture = pictureOf();
    const view = () => ({
      picture,
      cells: picture.z,
      table: lookup("house", false, "light"),
      most: 13,
    });
    paint({ numbers: ["one", view] });
    expect(box.querySelectorAll(".numbers text")).toHaveLength(5);
    paint();
    expect(box.querySelectorAll(".numbers text")).toHaveLength(0);
  });
});

describe("the numbers in the cells", () => {
  const picture = pictureOf();
  const table = lookup("house", false, "light");
  const written = (axes = axesOf(), more: Partial<NumbersView> = {}) => {
    const numbers = makeNumbers();
    numbers.paint(axes, "key", () => ({ picture, cells: picture.z, table, most: 13, ...more }));
    return [...numbers.node.querySelectorAll("text")];
  };

  it("are the weights, in the middle of their cells, but for next to nothing", () => {
    const found = written().map((text) => [text.getAttribute("x"), text.textContent]);
    expect(found).toEqual([
      ["20", ".50"],
      ["60", ".25"],
      ["60", "1"],
      ["100", ".75"],
      ["140", ".25"],
    ]);
  });

  it("are those in sight, of cells that show something", () => {
    expect(written(axesOf(2, 2)).map((text) => text.textContent)).toEqual([".75", ".25"]);
    const cells = picture.z.map((row, i) => row.map((value) => (i === 1 ? null : value)));
    expect(written(axesOf(), { cells }).map((text) => text.textContent)).not.toContain("1");
  });

  it("are read on what is light and on what is dark", () => {
    const fills = written().map((text) => text.getAttribute("fill"));
    expect(new Set(fills).size).toBe(2);
    expect(fills[0]).not.toBe(fills[2]); // of a half and of one
  });

  it("are none where cells are too small", () => {
    const small = { ...axesOf().x, l2p: (at: number) => 15 * at };
    expect(written({ x: small, y: axesOf().y })).toEqual([]);
  });

  it("are written anew where what they depend on has changed", () => {
    const numbers = makeNumbers();
    let asked = 0;
    const view = () => {
      asked++;
      return { picture, cells: picture.z, table, most: 13 };
    };
    numbers.paint(axesOf(), "one", view);
    numbers.paint(axesOf(), "one", view);
    expect(asked).toBe(1);
    numbers.paint(axesOf(1, 2), "one", view);
    numbers.paint(axesOf(1, 2), "two", view);
    expect(asked).toBe(3);
    numbers.clear();
    expect(numbers.node.childNodes).toHaveLength(0);
    numbers.paint(axesOf(1, 2), "two", view);
    expect(asked).toBe(4);
  });
});
