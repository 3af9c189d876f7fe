import { describe, expect, it } from "vitest";
import { gapOf, shownCells } from "./cells";

const z = [
  [0.2, 0.8],
  [0.1, 0.4],
];

describe("the cells that are drawn", () => {
  it("are the weights, or shares of each row's largest", () => {
    const masked = () => false;
    expect(shownCells({ z, masked }, "linear")).toEqual(z);
    expect(shownCells({ z, masked }, "row")).toEqual([
      [0.25, 1],
      [0.25, 1],
    ]);
    expect(shownCells({ z: [[0, 0]], masked }, "row")).toEqual([[0, 0]]);
  });

  it("are none where a row cannot look", () => {
    const masked = (i: number, j: number) => j > i;
    expect(shownCells({ z, masked }, "linear")).toEqual([
      [0.2, null],
      [0.1, 0.4],
    ]);
  });

  it("stand closer where they are small", () => {
    expect(gapOf({ cellWidth: 20, cellHeight: 20 })).toBe(1);
    expect(gapOf({ cellWidth: 12, cellHeight: 20 })).toBe(0.5);
  });
});
