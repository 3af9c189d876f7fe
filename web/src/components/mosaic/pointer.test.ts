import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { blankCanvases, TestContext } from "../../test/context";
import { makeMosaic } from "./mosaic";
import { pointedAt, told } from "./pointer";
import type { Tile } from "./layout";

let x: TestContext;
let canvas: HTMLCanvasElement;
beforeAll(blankCanvases);
beforeEach(() => {
  x = new TestContext();
  x.shows(makeMosaic);
  canvas = x.find<HTMLCanvasElement>("#attention-mosaic canvas");
});
/** Two tiles side by side, of 100 × 50 pixels. */
const TILES: Tile[] = [
  { l: 0, h: 0, n: 0, x: 0, y: 0, w: 100, tall: 50 },
  { l: 1, h: 2, n: 1, x: 110, y: 0, w: 100, tall: 50 },
];
const at = (clientX: number, clientY: number) =>
  pointedAt(x, canvas, TILES, new MouseEvent("mousemove", { clientX, clientY }));
const text = (nodes: (Node | string)[]) =>
  nodes.map((node) => (typeof node === "string" ? node : node.textContent)).join("");

describe("a pointer", () => {
  it("is on the tile and on the cell that lie under it", () => {
    const { rows, columns } = x.trace.maps.cross;
    expect(at(110, 0)).toMatchObject({ l: 1, h: 2, row: 0, column: 0 });
    expect(at(209, 49)).toMatchObject({ l: 1, h: 2, row: rows - 1, column: columns - 1 });
    expect(at(50.1, 25.1)).toMatchObject({
      ...{ l: 0, row: Math.floor(rows / 2), column: Math.floor(columns / 2) },
    });
  });

  it("is on none between two tiles and beside them", () => {
    for (const [px, py] of [[105, 10] as const, [10, 50] as const, [-1, 10] as const])
      expect(at(px, py)).toBeNull();
  });

  it("is on the present row where a tile shows that alone", () => {
    x.set({ tile: "row", step: 2 });
    expect(at(5, 49)!.row).toBe(x.trace.rowOf("cross", x.state));
  });
});

describe("what is said of a cell", () => {
  const cell = (row: number, column: number) => ({ ...TILES[1], row, column });

  it("is its head, its tokens and its weight", () => {
    const said = text(told(x, cell(1, 2)));
    const { columns } = x.trace.maps.cross;
    expect(said).toContain("L2 H3");
    expect(said).toContain(x.trace.head("cross", 1, 2)[columns + 2].toFixed(3));
    for (const { s } of [x.trace.reads[1], x.trace.tgt[1], x.trace.src[2]])
      expect(said).toContain(s);
  });

  it("is of the encoder no prediction, and of a decoder's future no weight", () => {
    x.set({ kind: "encoder" });
    expect(text(told(x, cell(0, 1)))).toMatch(/looks at/);
    expect(text(told(x, cell(0, 1)))).not.toMatch(/predicts/);
    x.set({ kind: "decoder" });
    expect(text(told(x, cell(0, 1)))).toMatch(/lies in the future/);
    expect(text(told(x, cell(1, 1)))).toMatch(/predicts/);
  });

  it("has dots in place of a weight that has not come", () => {
    vi.spyOn(x.trace, "has").mockReturnValue(false);
    expect(text(told(x, cell(1, 2)))).toContain("…");
  });
});

describe("the mosaic under a pointer", () => {
  const heads = () => x.trace.maps.cross.heads;
  /** The middle of a head's tile, in a mosaic as wide as the context says. */
  const middle = (layer: number, head: number) => {
    const w = (600 - 4 * (heads() - 1)) / heads();
    const { layers } = x.trace.maps.cross;
    const tall = (400 - 62 - 4 * (layers - 1)) / layers;
    return { clientX: head * (w + 4) + w / 2, clientY: layer * (tall + 4) + tall / 2 };
  };
  const send = (type: string, layer: number, head: number, more: object = {}) =>
    canvas.dispatchEvent(new MouseEvent(type, { ...middle(layer, head), bubbles: true, ...more }));

  it("says the cell, and nothing once it has left", () => {
    send("mousemove", 2, 1);
    expect(text(x.told!)).toContain("L3 H2");
    expect(canvas.style.cursor).toBe("pointer");
    canvas.dispatchEvent(new MouseEvent("mouseleave"));
    expect([x.told, canvas.style.cursor]).toEqual([null, ""]);
  });

  it("chooses the head that is clicked, and leaves a view of all heads for it", () => {
    x.set({ view: "aggregate" });
    send("click", 2, 1);
    expect(x.state).toMatchObject({ layer: 2, head: 1, view: "heatmap" });
    x.set({ view: "arcs" });
    send("click", 0, 2);
    expect(x.state).toMatchObject({ layer: 0, head: 2, view: "arcs" });
  });

  it("lays a head over the others with a key held, or by Enter", () => {
    const overlay = vi.spyOn(x, "overlay").mockImplementation(() => undefined);
    x.set({ layer: 0, head: 0 });
    send("click", 1, 2, { shiftKey: true });
    send("click", 1, 1, { ctrlKey: true });
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    expect(overlay.mock.calls).toEqual([
      [1, 2],
      [1, 1],
      [0, 0],
    ]);
    expect([x.state.layer, x.state.head]).toEqual([0, 0]);
  });

  it("says a weight once its map has come, if it is still pointed at", async () => {
    let known = false;
    vi.spyOn(x.trace, "has").mockImplementation(() => known);
    const coming: (() => void)[] = [];
    const bring = vi
      .spyOn(x, "bring")
      .mockImplementation((() =>
        known ? null : new Promise<void>((done) => coming.push(done))) as never);
    send("mousemove", 2, 1);
    expect(text(x.told!)).toContain("…");
    expect(bring).toHaveBeenCalledWith("cross", [[2, 1]]);
    known = true;
    coming[0]();
    await Promise.resolve();
    expect(text(x.told!)).not.toContain("…");
    known = false;
    send("mousemove", 1, 1);
    canvas.dispatchEvent(new MouseEvent("mouseleave"));
    coming[1]();
    await Promise.resolve();
    expect(x.told).toBeNull();
  });
});
