import { describe, expect, it } from "vitest";
import { POSITIONS } from "../../protocol/registry";
import {
  corner,
  curvesOf,
  dimensionsIn,
  heatmapOf,
  similarityOf,
  type Drawn,
  type Table,
} from "./positional";

const TABLE: Table = { values: Float32Array.from([1, 2, -3, 4, 5, 6]), rows: 2, columns: 3 };
const DRAWN = {
  light: { data: [{ type: "drawn" }], layout: { title: "light" } },
  dark: [1],
} as unknown as Drawn;

it.each([
  [1, 2, [1, 2]],
  [2, 2, [1, 2, 4, 5]],
  [9, 9, [1, 2, -3, 4, 5, 6]],
])("the corner of %i by %i is the first rows and columns", (rows, columns, values) => {
  const found = corner(TABLE, rows, columns);
  expect([...found.values]).toEqual(values);
  expect(found.rows * found.columns).toBe(values.length);
});

describe("dimensions", () => {
  it.each([
    ["5, 6, 10-12", [5, 6, 10, 11, 12]],
    ["3-1", [1, 2, 3]],
    ["1;2、3，4 5", [1, 2, 3, 4, 5]],
  ])("in %j are %j", (text, expected) => expect(dimensionsIn(text, 64)).toEqual(expected));

  it.each([
    ["1, x", "'x' is no dimension"],
    ["", "0 curves were requested"],
    ["0-99", "100 curves were requested"],
    ["64", "dimension 64 is beyond the last one, 63"],
    ["1".repeat(5000), "name the dimensions of the curves like this"],
  ])("in %j are refused in words", (text, said) =>
    expect(() => dimensionsIn(text, 64)).toThrow(said),
  );

  it("may be as many as can be told apart", () => {
    const most = POSITIONS.curves_at_most;
    expect(dimensionsIn(`1-${most}`, 64)).toHaveLength(most);
    expect(() => dimensionsIn(`1-${most + 1}`, 64)).toThrow(`only 1 to ${most}`);
  });
});

describe("the figures of a table", () => {
  it("show every number, on a scale that has 0 in its middle", () => {
    const { light, dark } = JSON.parse(heatmapOf(DRAWN, TABLE));
    expect(light.data).toEqual([
      {
        type: "drawn",
        y: [0, 1],
        zmin: -6,
        zmax: 6,
        z: [
          [1, 2, -3],
          [4, 5, 6],
        ],
      },
    ]);
    expect([light.layout, dark]).toEqual([{ title: "light" }, [1]]);
  });

  it("have a curve for each dimension", () => {
    const { light } = JSON.parse(curvesOf(DRAWN, TABLE, [2, 0]));
    const curve = { type: "drawn", x: [0, 1] };
    expect(light.data).toEqual([
      { ...curve, y: [-3, 6], name: "dim 2" },
      { ...curve, y: [1, 4], name: "dim 0" },
    ]);
  });

  it("compare each two positions by the product of their vectors", () => {
    const [{ z, zmax }] = JSON.parse(similarityOf(DRAWN, TABLE)).light.data;
    expect(z).toEqual([
      [14, -4],
      [-4, 77],
    ]);
    expect(zmax).toBe(77);
  });
});
