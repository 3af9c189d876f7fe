import { afterEach, describe, expect, it } from "vitest";
import type { Colour } from "../design/colour";
import type { Kind } from "../protocol/messages";
import { EXAMPLES, example } from "../test/example";
import { tileImages } from "./tiles";

/** Each colour's red is its place in the table, divided by two: what was looked up can be read. */
const TABLE = Array.from({ length: 257 }, (_, n): Colour => [n >> 1, n & 1, 7]);
const original = HTMLCanvasElement.prototype.getContext;
afterEach(() => void (HTMLCanvasElement.prototype.getContext = original));

/** What is painted, pixel by pixel: the place in the table, or -1 where it is clear. */
const painted = (
  ...[trace, kind, limit, scale]: [
    ReturnType<typeof example>,
    Kind,
    number,
    "linear" | "root" | "row",
  ]
) => {
  let data = new Uint8ClampedArray();
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement) {
    data = new Uint8ClampedArray(4 * this.width * this.height);
    return { createImageData: () => ({ data }), putImageData: () => undefined };
  } as never;
  const { sheet, w, h } = tileImages(trace, kind, TABLE, limit, scale);
  const at = (x: number, y: number) => {
    const [r, g, , a] = data.subarray(4 * (y * sheet.width + x));
    return a ? 2 * r! + g! : -1;
  };
  return { at, w, h, width: sheet.width, height: sheet.height };
};

describe.each(EXAMPLES.slice(0, 3))("the pictures of %s", (id) => {
  const trace = example(id);

  it.each(trace.kinds)("have a pixel a cell where there is room, %s", (kind) => {
    const { layers, heads, rows, columns } = trace.maps[kind];
    const { at, w, h, width, height } = painted(trace, kind, 100, "linear");
    expect([w, h, width, height]).toEqual([columns, rows, columns * heads, rows * layers]);
    for (let l = 0; l < layers; l++)
      for (let head = 0; head < heads; head++) {
        const places = [...trace.head(kind, l, head)].map((weight, n) => {
          const [i, j] = [Math.floor(n / columns), n % columns];
          const expected = kind === "decoder" && j > i ? -1 : Math.round(256 * weight);
          return [at(head * w + j, l * h + i), expected];
        });
        expect(places.filter(([found, expected]) => found !== expected)).toEqual([]);
      }
  });

  it.each([2, 3, 5])("show the largest of the cells that share a pixel, %i a side", (limit) => {
    const { rows, columns } = trace.maps.cross;
    const [across, down] = [Math.ceil(columns / limit), Math.ceil(rows / limit)];
    const { at, w, h } = painted(trace, "cross", limit, "linear");
    expect(Math.max(w, h)).toBeLessThanOrEqual(limit);
    const values = trace.head("cross", 1, 2);
    for (let y = 0; y < h; y++)
      for (let x = 0; x < w; x++) {
        const shared = [...values].filter(
          (_, n) =>
            Math.floor((n % columns) / across) === x &&
            Math.floor(Math.floor(n / columns) / down) === y,
        );
        expect(at(2 * w + x, h + y)).toBe(Math.round(256 * Math.max(...shared)));
      }
  });

  it("show each row in shares of its largest weight by choice", () => {
    const { at, w, h } = painted(trace, "encoder", 100, "row");
    for (let y = 0; y < h; y++)
      expect(Math.max(...Array.from({ length: w }, (_, x) => at(x, y)))).toBe(256);
  });
});
