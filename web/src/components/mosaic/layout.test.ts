import { describe, expect, it } from "vitest";
import type { Place } from "../../protocol/messages";
import { layOut } from "./layout";

const places = Array.from({ length: 6 }, (_, l) =>
  Array.from({ length: 8 }, (_, h): Place => [l, h]),
).flat();

describe("the tiles", () => {
  it("stand in a grid that fills the width, and none lies over another", () => {
    const { tiles, width, height } = layOut(places, 8, { width: 600, room: 500, small: false });
    expect(tiles).toHaveLength(48);
    const last = tiles[47];
    expect(last.x + last.w).toBeCloseTo(width);
    expect(last.y + last.tall).toBeCloseTo(height);
    expect(tiles[8]).toMatchObject({ l: 1, h: 0, x: 0 });
    expect(tiles[1].x).toBeGreaterThanOrEqual(tiles[0].x + tiles[0].w);
  });

  it("stand in lines of four on a phone", () => {
    const { columns, lines } = layOut(places.slice(0, 8), 8, {
      width: 350,
      room: 500,
      small: true,
    });
    expect([columns, lines]).toEqual([4, 2]);
  });
});
