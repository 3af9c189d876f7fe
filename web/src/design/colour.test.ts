import { describe, expect, it } from "vitest";
import { type Colour, inkOn, lookup, luminance, ramp, toRgb } from "./colour";
import { type Palette, stops } from "./scales";

/** WCAG 2.2: relative luminance by a table of 256 values, worked out apart from ours. */
const LINEAR = Array.from({ length: 256 }, (_, i) => {
  const c = i / 255;
  return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
});
const light = ([r, g, b]: Colour) => 0.2126 * LINEAR[r] + 0.7152 * LINEAR[g] + 0.0722 * LINEAR[b];
const contrast = (a: Colour, b: Colour) => {
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

describe("inkOn", () => {
  it("can be read on every colour: 4.5 to 1, WCAG 2.2, 1.4.3", () => {
    let least = 21;
    for (let r = 0; r < 256; r += 5)
      for (let g = 0; g < 256; g += 5)
        for (let b = 0; b < 256; b += 5)
          least = Math.min(least, contrast([r, g, b], toRgb(inkOn([r, g, b]))));
    expect(least).toBeGreaterThanOrEqual(4.5);
  });
});

describe("scales", () => {
  const sequential: [Palette, "light" | "dark"][] = [
    ["house", "light"],
    ["house", "dark"],
    ["viridis", "light"],
    ["cividis", "light"],
  ];
  it.each(sequential)("%s, %s: lightness goes one way", (palette, theme) => {
    const levels = lookup(palette, false, theme).map(luminance);
    const way = Math.sign(levels[256] - levels[0]);
    for (let i = 8; i <= 256; i += 8) expect(way * (levels[i] - levels[i - 8])).toBeGreaterThan(0);
  });

  it("zero is the page's colour, or near it", () => {
    expect(toRgb(stops("house", "light")[0][1]).every((value) => value > 240)).toBe(true);
    expect(toRgb(stops("house", "dark")[0][1]).every((value) => value < 40)).toBe(true);
  });

  it("a stop is met, and halfway between two lies the middle", () => {
    const points: [number, string][] = [
      [0, "#000000"],
      [0.5, "#6496c8"],
      [1, "#ffffff"],
    ];
    expect(ramp(points, 0.5)).toEqual([100, 150, 200]);
    expect(ramp(points, 0.25)).toEqual([50, 75, 100]);
    expect(ramp(points, 7)).toEqual([255, 255, 255]);
  });

  it("the square root is of the weight", () => {
    expect(lookup("house", true, "light")[64]).toEqual(lookup("house", false, "light")[128]);
  });
});
