import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Colour } from "../design/colour";
import type { Figure } from "./plotly";
import { sketch } from "./sketch";

const TABLE = Array.from({ length: 257 }, (): Colour => [1, 2, 3]);
const { getContext, toDataURL } = HTMLCanvasElement.prototype;
beforeEach(() => {
  const image = { data: new Uint8ClampedArray(400) };
  HTMLCanvasElement.prototype.getContext = (() => ({
    createImageData: () => image,
    putImageData: () => undefined,
  })) as never;
  HTMLCanvasElement.prototype.toDataURL = () => "data:,cells";
});
afterEach(() => void Object.assign(HTMLCanvasElement.prototype, { getContext, toDataURL }));

/** A map of two rows by four columns, of which the middle two are in sight, 100 pixels each. */
const figure = (changes: object = {}): Figure => ({
  data: [
    {
      z: [
        [0, 0.5, 1, 0],
        [null, 1, 0, 0],
      ],
    },
  ],
  layout: {
    width: 310,
    height: 160,
    margin: { l: 90, t: 40, r: 20, b: 20 },
    font: { family: "sans-serif" },
    xaxis: axis([0.5, 2.5], ["a", "b &amp; c", "", "d"], { tickangle: -90 }),
    yaxis: axis([1.5, -0.5], ["one", "two"]),
    annotations: [],
    ...changes,
  },
});
const axis = (range: number[], ticktext: string[], more: object = {}) => ({
  range,
  ticktext,
  tickvals: ticktext.map((_, at) => at),
  tickfont: { size: 13, color: "black" },
  ...more,
});
const written = (node: Element) =>
  [...node.querySelectorAll("text")].map((each) => ({
    text: each.textContent,
    x: Number(each.getAttribute("x")),
    y: Number(each.getAttribute("y")),
    turned: each.getAttribute("transform"),
    end: each.getAttribute("text-anchor") === "end",
  }));

describe("the sketch of a map", () => {
  it("frames the cells in sight where Plotly does", () => {
    const node = sketch(figure(), TABLE);
    expect([node.getAttribute("width"), node.getAttribute("height")]).toEqual(["310", "160"]);
    const frame = node.querySelector("svg")!;
    const of = (name: string) => Number(frame.getAttribute(name));
    expect(["x", "y", "width", "height"].map(of)).toEqual([90, 40, 200, 100]);
    expect(frame.getAttribute("viewBox")).toBe("0.5 -0.5 2 2");
    const cells = frame.querySelector("image")!;
    const place = ["x", "y", "width", "height"].map((name) => Number(cells.getAttribute(name)));
    expect(place).toEqual([-0.5, -0.5, 4, 2]);
  });

  it("names the columns in sight over their middles, as text", () => {
    const columns = written(sketch(figure(), TABLE)).filter(({ end }) => !end);
    expect(columns).toMatchObject([{ text: "b & c", x: 140, turned: "rotate(-90 140 38)" }]);
  });

  it("names the rows beside their middles, the first on top", () => {
    const rows = written(sketch(figure(), TABLE)).filter(({ end }) => end);
    expect(rows).toMatchObject([
      { text: "one", x: 83, y: 65 },
      { text: "two", x: 83, y: 115 },
    ]);
  });

  it("writes a caption's lines upwards from its place", () => {
    const caption = { font: { size: 10, color: "grey" }, xshift: 5, yshift: 8 };
    const annotations = [
      { ...caption, text: "reads<br>predicts", xanchor: "left" },
      { ...caption, text: "tokens", xanchor: "right" },
    ];
    const texts = written(sketch(figure({ annotations }), TABLE)).slice(-3);
    expect(texts).toMatchObject([
      { text: "reads", x: 97, y: 15, end: false },
      { text: "predicts", x: 97, y: 28, end: false },
      { text: "tokens", x: 93, y: 28, end: true },
    ]);
  });

  it("names rows on two axes where there are two", () => {
    const yaxis2 = axis([1.5, -0.5], ["uno", "due"], { shift: -40 });
    const rows = written(sketch(figure({ yaxis2 }), TABLE)).filter(({ end }) => end);
    expect(rows.map(({ text, x }) => [text, x])).toEqual([
      ["one", 83],
      ["two", 83],
      ["uno", 43],
      ["due", 43],
    ]);
  });
});
