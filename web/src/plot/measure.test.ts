import { describe, expect, it } from "vitest";
import type { Group } from "../trace/picture";
import { measureMap, whole, type MapRoom } from "./measure";

const groups = (count: number, text = "Haus") =>
  Array.from({ length: count }, () => ({ text }) as Group);
const measure = (width: number, room: number, count: number, more: Partial<MapRoom> = {}) =>
  measureMap(
    width,
    room,
    { rows: groups(count), columns: groups(count) },
    { labels: 80, top: 0, small: false, ...more },
  );
const SIZES = [320, 390, 700, 1200, 2400].flatMap((width) =>
  [1, 5, 12, 42, 128].map((count): [number, number] => [width, count]),
);

describe.each(SIZES)("a map in %i pixels of %i tokens", (width, count) => {
  it.each([true, false])("has cells that fit into its frame, small: %s", (small) => {
    const size = measure(width, 500, count, { small });
    expect(size.columns).toBeGreaterThan(0);
    expect(size.columns).toBeLessThanOrEqual(count);
    if (size.columns > 1)
      expect(size.labels + size.columns * size.cellWidth).toBeLessThanOrEqual(width);
    expect(size.cellWidth).toBeGreaterThanOrEqual(12);
    expect(size.cellHeight).toBeGreaterThanOrEqual(14);
    if (small) expect([size.rows, size.cellHeight]).toEqual([count, 28]);
  });

  it("shows the whole map if it is to fit, and in no larger cells", () => {
    const [fit, usual] = [measure(width, 500, count, { fit: true }), measure(width, 500, count)];
    expect([fit.rows, fit.columns]).toEqual([count, count]);
    expect(fit.cellWidth).toBeLessThanOrEqual(usual.cellWidth);
    expect(fit.cellWidth).toBeGreaterThanOrEqual(2);
  });

  it("names as many columns as do not touch", () => {
    const { names, cellWidth, cellHeight } = measure(width, 500, count, { fit: true });
    const needs = (names.upright ? 1.15 : 1.65) * names.text;
    expect(names.columns * cellWidth).toBeGreaterThanOrEqual(needs - 0.02 * cellWidth);
    expect((names.columns - 1) * cellWidth).toBeLessThan(needs);
    expect(names.rows * cellHeight).toBeGreaterThanOrEqual(10 - 0.02 * cellHeight);
  });
});

it("names stand slanted where there is room, upright where there is none or on a phone", () => {
  expect(measure(1200, 500, 5).names.upright).toBe(false);
  expect(measure(1200, 500, 60).names.upright).toBe(true);
  expect(measure(1200, 500, 5, { small: true }).names.upright).toBe(true);
});

it("long names, and wide signs, take more room over the cells", () => {
  const top = (text: string) =>
    measureMap(
      900,
      500,
      { rows: groups(6), columns: groups(6, text) },
      { labels: 80, top: 0, small: false },
    ).top;
  expect(top("Donaudampfschiff")).toBeGreaterThan(top("Haus"));
  expect(top("住宅地区")).toBeGreaterThan(top("Haus"));
  expect(measure(900, 500, 6, { top: 300 }).top).toBe(300);
});

it("the whole of a map is as many cells of the same size", () => {
  const size = measure(390, 300, 60);
  const all = whole(size, { rows: groups(60), columns: groups(60) });
  expect(all).toEqual({ ...size, rows: 60, columns: 60 });
});
