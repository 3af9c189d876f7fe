/* Where a figure is drawn both in Python and here, both draw the same: tests/golden_maker.py made
   `figures.json`. */

import { describe, expect, it } from "vitest";
import golden from "../../../tests/protocol/figures.json";
import sent from "../../../tests/protocol/trace.json";
import { drawArcs } from "../components/arcs/picture";
import { ramp, rgb, toRgb, lookup } from "../design/colour";
import { type Palette, type Scale, stops } from "../design/scales";
import { KINDS, type Kind, type TracePayload } from "../protocol/messages";
import { differenceOf } from "../trace/difference";
import { headDistance } from "../trace/distance";
import { type Picture, slice } from "../trace/picture";
import { Translation } from "../trace/translation";
import { shownCells } from "./cells";
import { type HeatView, heatFigure } from "./heat";
import { measureMap } from "./measure";

const trace = new Translation(sent as unknown as TracePayload);
const { layer, head } = golden;
const CLOSE = 1e-4; // 16-bit weights, and of them square roots and shares

const pictureOf = (kind: Kind, at: number): Picture => {
  const { heads, rows, columns, values } = trace.maps[kind];
  const from = (layer * heads + at) * rows * columns;
  const map = values.slice(from, from + rows * columns);
  return slice(trace, kind, map, { unit: "sub", specials: "shown" });
};

const view = (kind: Kind, scale: HeatView["scale"], palette: Palette): HeatView => ({
  size: measureMap(900, 600, pictureOf(kind, head), { labels: 96, top: 84, small: false }),
  range: { x: [-0.5, 9.5], y: [9.5, -0.5] },
  width: 600,
  height: 400,
  scale,
  palette,
  labels: kind === "encoder" ? "reads" : "both",
  small: false,
  theme: "light",
});

const expectCells = (found: (number | null)[][], want: (number | null)[][]) => {
  expect(found.map((row) => row.length)).toEqual(want.map((row) => row.length));
  want.forEach((row, i) =>
    row.forEach((value, j) => {
      if (value === null) expect(found[i][j]).toBeNull();
      else expect(Math.abs(found[i][j]! - value)).toBeLessThan(CLOSE);
    }),
  );
};

describe.each(KINDS)("the %s map", (kind) => {
  const want = golden[kind];
  const picture = pictureOf(kind, head);

  it("has Python's cells, by weight and by shares of the row", () => {
    const figure = heatFigure(picture, kind, view(kind, "linear", "house"));
    expectCells(figure.data[0].z, want.cells.linear);
    expectCells(figure.data[0].z, want.tile);
    expectCells(shownCells(picture, "row"), want.cells.row);
  });

  it("bends the colours by the square root as Python bends the places", () => {
    const table = lookup("house", true, "light");
    const points = stops("house", "light");
    want.cells.sqrt.forEach((row, i) =>
      row.forEach((place, j) => {
        if (place === null) return;
        const mine = table[Math.round(256 * picture.z[i][j])];
        const theirs = ramp(points, place);
        // the table has 257 places: next to zero, where the root is steep, the colours of its
        // neighbours may differ
        const near = place < 0.1 ? 24 : 8;
        mine.forEach((part, k) => expect(Math.abs(part - theirs[k])).toBeLessThanOrEqual(near));
      }),
    );
  });

  it("has Python's labels on its axes", () => {
    const { layout } = heatFigure(picture, kind, view(kind, "linear", "house"));
    const plain = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">");
    expect(layout.xaxis.ticktext.map(plain)).toEqual(want.columns.map(plain));
    const near = want.predicts ?? want.reads;
    expect(layout.yaxis.ticktext.map(plain)).toEqual(near.map(plain));
    if (want.predicts) expect(layout.yaxis2.ticktext.map(plain)).toEqual(want.reads.map(plain));
  });

  it("differs from another head by what Python says", () => {
    expectCells(differenceOf(picture, pictureOf(kind, 1 - head))!.z, want.difference);
  });

  it("has an arc for every weight that Python draws one for, the strongest on top", () => {
    const none = { width: 600, line: 24, small: false, focus: null, now: -1, label: "" };
    const layers = [{ name: "", picture, colour: null }];
    const table = lookup("house", false, "light");
    const titles: [string, string] = ["", ""];
    const svg = drawArcs({ ...none, layers, table, titles, rowText: (row) => row.text });
    const weights = want.cells.linear.flat().filter((w) => w !== null && w >= golden.faintest);
    expect(svg.querySelectorAll("path")).toHaveLength(weights.length);
    const top = [...svg.querySelectorAll("path")].at(-1)!;
    expect(Number(top.getAttribute("stroke-width"))).toBeCloseTo(
      0.6 + 9 * Math.max(...weights.map(Number)),
      1,
    );
  });
});

describe("colour scales", () => {
  const palettes: Palette[] = ["house", "viridis", "cividis", "difference"];

  it.each(palettes)("%s has Python's stops in both themes", (palette) => {
    for (const theme of ["light", "dark"] as const)
      expect(stops(palette, theme)).toEqual(golden.scales[palette][theme]);
  });

  it.each(palettes)("%s is drawn by Plotly as Python has it", (palette) => {
    const picture = pictureOf("cross", head);
    const { data } = heatFigure(picture, "cross", view("cross", "linear", palette));
    const want = golden.scales[palette].light as Scale;
    for (const [place, colour] of data[0].colorscale as Scale) {
      const there = ramp(want, Math.round(place * 256) / 256);
      expect(colour).toBe(rgb(there));
    }
    expect(toRgb(want[0][1])).toEqual(ramp(want, 0));
  });
});

describe.each(KINDS)("the distance of %s heads", (kind) => {
  it("is Python's, by subwords and by words", () => {
    const other = new Translation(sent as unknown as TracePayload);
    const { layers, heads, rows, columns } = trace.maps[kind];
    const size = rows * columns;
    for (let l = 0; l < layers; l++)
      for (let h = 0; h < heads; h++)
        other.maps[kind].values.set(
          trace.head(kind, layers - 1 - l, heads - 1 - h),
          (l * heads + h) * size,
        );
    for (const unit of ["sub", "word"] as const) {
      const want = golden.distances[kind][unit];
      expect(want).toHaveLength(layers * heads);
      want.forEach((distance, at) => {
        const slicing = { unit, specials: "shown" as const };
        const found = headDistance(trace, other, kind, Math.floor(at / heads), at % heads, slicing);
        expect(Math.abs(found! - distance)).toBeLessThan(CLOSE);
      });
    }
  });
});
