import { describe, expect, it } from "vitest";
import type { MapSize } from "../../plot/measure";
import { TestContext } from "../../test/context";
import { type KeysProps, pressed } from "./keys";
import { Sight } from "./sight";

const picture = new TestContext().picture();
/** Three rows and two columns are in sight. */
const size = { rows: 3, columns: 2 } as MapSize;
const last = { i: picture.rows.length - 1, j: picture.columns.length - 1 };

describe("the part of a map that is in sight", () => {
  it("follows a cell, and no further than it must", () => {
    const sight = new Sight();
    expect(sight.follow({ i: 2, j: 1 }, size)).toBe(false);
    expect(sight.follow(last, size)).toBe(true);
    const { x, y } = sight.range(picture, size);
    expect([x[1], y[0]]).toEqual([last.j + 0.5, last.i + 0.5]);
  });

  it("is a zoom until all of the map is shown, and begins anew with another map", () => {
    const sight = new Sight();
    sight.of("one", picture, size, 0);
    sight.zoomTo({ x: [0.5, 2.5], y: [3.5, 1.5] }, picture);
    expect(sight.zoomed).toBe(true);
    expect(sight.follow(last, size)).toBe(false);
    sight.of("one", picture, size, 0);
    expect(sight.zoomed).toBe(true);
    sight.of("another", picture, size, 0);
    expect(sight.zoomed).toBe(false);
    sight.zoomTo({ x: [-0.5, last.j + 0.5], y: [last.i + 0.5, -0.5] }, picture);
    expect(sight.zoomed).toBe(false);
  });
});

describe("a key on a map", () => {
  const heard = (key: string, at = { i: 1, j: 1 }) => {
    const calls: unknown[][] = [];
    const note =
      (name: string) =>
      (...values: unknown[]) =>
        calls.push([name, ...values]);
    const props = {
      at: () => at,
      picture: () => picture,
      ...Object.fromEntries(["go", "choose", "pin", "magnify"].map((name) => [name, note(name)])),
      escape: () => false,
    } as unknown as KeysProps;
    return [pressed(key, props), ...calls];
  };

  it("goes to a neighbour, and stays inside", () => {
    expect(heard("ArrowDown")).toEqual([true, ["go", { i: 2, j: 1 }]]);
    expect(heard("ArrowLeft", { i: 0, j: 0 })).toEqual([true, ["go", { i: 0, j: 0 }]]);
    expect(heard("ArrowRight", last)).toEqual([true, ["go", last]]);
  });

  it("chooses, pins and magnifies", () => {
    expect(heard("Enter")).toEqual([true, ["choose", { i: 1, j: 1 }]]);
    expect(heard("P")).toEqual([true, ["pin", { i: 1, j: 1 }]]);
    expect(heard("+")).toEqual([true, ["magnify", { i: 1, j: 1 }, 0.6]]);
  });

  it("of another meaning is left to others", () => {
    expect(heard("Tab")).toEqual([false]);
    expect(heard("Escape")).toEqual([false]);
  });
});
