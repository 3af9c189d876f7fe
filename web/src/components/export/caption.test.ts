// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { finished, wrapped } from "./caption";
import { withResolution } from "./png";

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="9"/></svg>';

it("breaks lines at spaces, and Chinese anywhere", () => {
  expect(wrapped("one two three", 45)).toEqual(["one two", "three"]);
  expect(wrapped("我父亲在医院", 24)).toEqual(["我父", "亲在", "医院"]);
  expect(wrapped("   ", 24)).toEqual([]);
});

it("writes each line below the picture and keeps its shape", () => {
  const { svg, height } = finished(SVG, { lines: ["A & B <c>", "L3 H5"], width: 85 });
  expect(height).toBeGreaterThan(200);
  expect(svg).toContain('width="85mm"');
  expect(svg).toContain("A &amp; B &lt;c&gt;");
  expect(svg).toContain("L3 H5");
  const bare = finished(SVG, { lines: [], width: null });
  expect([bare.pixels, bare.height]).toEqual([400, 200]);
});

it("says the resolution of a PNG", async () => {
  const png = new Blob([new Uint8Array(40)], { type: "image/png" });
  const data = new Uint8Array(await (await withResolution(png, 300)).arrayBuffer());
  const view = new DataView(data.buffer);
  expect(data.length).toBe(61);
  expect(String.fromCharCode(...data.subarray(37, 41))).toBe("pHYs");
  expect(view.getUint32(41)).toBe(11811);
  expect(view.getUint32(50)).toBe(0x78a53f76); // zlib.crc32 of the chunk's type and data
});
