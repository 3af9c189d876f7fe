import { describe, expect, it } from "vitest";
import { COLOURS, HEAD_COLOURS, type Palette, colour, stops } from "./scales";

const THEMES = ["light", "dark"] as const;
const PALETTES: Palette[] = ["house", "viridis", "cividis", "difference"];

describe("scales", () => {
  it.each(PALETTES.flatMap((palette) => THEMES.map((theme) => [palette, theme] as const)))(
    "%s in the %s theme goes from 0 to 1, upwards, in colours",
    (palette, theme) => {
      const scale = stops(palette, theme);
      const places = scale.map(([place]) => place);
      expect([places[0], places.at(-1)]).toEqual([0, 1]);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      for (const [, each] of scale) expect(each).toMatch(/^(#[0-9a-f]{6}|rgb)/i);
    },
  );

  it("name the same colours in both themes, and give the present theme's", () => {
    expect(Object.keys(COLOURS.dark)).toEqual(Object.keys(COLOURS.light));
    const [name] = Object.keys(COLOURS.light) as (keyof typeof COLOURS.light)[];
    document.body.classList.add("dark");
    expect(colour(name)).toBe(COLOURS.dark[name]);
    document.body.classList.remove("dark");
    expect(colour(name)).toBe(COLOURS.light[name]);
    expect(colour(name, "dark")).toBe(COLOURS.dark[name]);
  });

  it("tell heads that lie over each other apart", () => {
    expect(new Set(HEAD_COLOURS).size).toBe(HEAD_COLOURS.length);
  });
});
