import { describe, expect, it } from "vitest";
import type { MapSize } from "../../plot/measure";
import type { Picture } from "../../trace/picture";
import { following, isWhole, magnified, rangeFrom, revealed, rounded } from "./range";

const group = (id: number) => ({ ids: [id], text: String(id), special: false, unknown: false });
const picture: Picture = {
  rows: Array.from({ length: 20 }, (_, i) => group(i)),
  columns: Array.from({ length: 30 }, (_, j) => group(j)),
  z: Array.from({ length: 20 }, (_, i) => Array.from({ length: 30 }, (_, j) => (i === j ? 1 : 0))),
  masked: () => false,
  hidden: 0,
};
const size = { rows: 5, columns: 10 } as MapSize;
const START = { x: 0, y: 0 };

describe("what is in sight", () => {
  it("begins where it may and ends at the map's end", () => {
    expect(rangeFrom(picture, size, START)).toEqual({ x: [-0.5, 9.5], y: [4.5, -0.5] });
    expect(rangeFrom(picture, size, { x: 99, y: 99 })).toEqual({
      x: [19.5, 29.5],
      y: [19.5, 14.5],
    });
  });

  it.each([0, 4, 5, 12, 19])("row %i and its strongest cell are revealed", (row) => {
    const { x, y } = rangeFrom(picture, size, revealed(picture, size, START, row));
    expect(row > y[1] && row < y[0]).toBe(true);
    expect(row > x[0] && row < x[1]).toBe(true);
  });

  it("stays where the row is in sight already", () => {
    expect(revealed(picture, size, { x: 2, y: 3 }, 5)).toEqual({ x: 2, y: 3 });
  });

  it("follows a cell by the least way", () => {
    expect(following({ x: 0, y: 0 }, size, { i: 5, j: 10 })).toEqual({ x: 1, y: 1 });
    expect(following({ x: 5, y: 5 }, size, { i: 6, j: 7 })).toEqual({ x: 5, y: 5 });
  });

  it("zoomed in and out again is all of it", () => {
    const all = rangeFrom(picture, { ...size, rows: 20, columns: 30 }, START);
    expect(isWhole(all, picture)).toBe(true);
    const near = magnified(all, picture, { i: 10, j: 15 }, 0.6)!;
    expect(near.x[1] - near.x[0]).toBeCloseTo(18);
    expect(isWhole(near, picture)).toBe(false);
    expect(magnified(near, picture, { i: 10, j: 15 }, 10)).toBeNull();
  });

  it("ends between cells", () => {
    expect(rounded({ x: [1.26, 3.9], y: [4.1, -0.4] })).toEqual({ x: [1.5, 4], y: [4, -0.5] });
  });
});
