/* Pictures for export: what stands in them, by the numbers of the translation. */

import { beforeEach, describe, expect, it, vi } from "vitest";
import sent from "../../../../tests/protocol/trace.json";
import { COLOURS } from "../../design/scales";
import { svgEl } from "../../dom/element";
import type { Figure } from "../../plot/plotly";
import type { TracePayload } from "../../protocol/messages";
import { blankCanvases, TestContext } from "../../test/context";
import { candidatesOf } from "../../trace/candidates";
import { Translation } from "../../trace/translation";
import { mapSvg } from "./figure";
import { arcsSvg, candidatesSvg, mosaicSvg } from "./pictures";

let x: TestContext;
beforeEach(() => {
  blankCanvases();
  x = new TestContext();
});
const parsed = (svg: string) => {
  const box = document.createElement("div");
  box.innerHTML = svg;
  return box.querySelector("svg")!;
};
const texts = (svg: Element) => [...svg.querySelectorAll("text")].map((node) => node.textContent);
const number = (node: Element, name: string) => Number(node.getAttribute(name));

describe("all heads", () => {
  const trace = new Translation(sent as unknown as TracePayload);
  const { layers, heads } = trace.maps.cross;
  const drawn = () =>
    parsed(mosaicSvg(trace, { ...x.state, layer: 1, head: 0 }, "attention weight"));

  it("are one picture each, in the order of layers and heads, the chosen one framed", () => {
    const svg = drawn();
    const images = [...svg.querySelectorAll("image")];
    expect(images).toHaveLength(layers * heads);
    const places = images.map((image) => [number(image, "y"), number(image, "x")]);
    expect(places).toEqual([...places].sort(([a, b], [c, d]) => a - c || b - d));
    const framed = [...svg.querySelectorAll("rect")].filter(
      (rect) => rect.getAttribute("stroke") === COLOURS.light.here,
    );
    expect(framed.map((rect) => [number(rect, "y"), number(rect, "x")])).toEqual([places[heads]]);
  });

  it("are named, with their sentence and their scale", () => {
    const said = texts(drawn());
    expect(said).toEqual(expect.arrayContaining(["L1", "L2", "H1", "H2", "attention weight"]));
    expect(said).toContain(trace.source);
    expect(said.join("\n")).toContain(trace.checkpoint.name);
  });
});

describe("the candidates of a step", () => {
  it("have bars as long as they are probable, and what is left at the end", () => {
    const svg = parsed(candidatesSvg(x.trace, 1));
    const items = candidatesOf(x.trace, 1, 8);
    const bars = [...svg.querySelectorAll("rect")].filter(
      (rect) => number(rect, "x") === 160 && rect.getAttribute("fill") !== COLOURS.light.track,
    );
    expect(bars).toHaveLength(items.length);
    items.forEach(({ p }, n) => expect(number(bars[n], "width")).toBeCloseTo(250 * p, 6));
    const shares = texts(svg).filter((text) => /^[01]\.\d{4}$/.test(text!));
    expect(shares.reduce((sum, text) => sum + Number(text), 0)).toBeCloseTo(1, 3);
  });

  it("show the chosen one in its own colour", () => {
    const svg = parsed(candidatesSvg(x.trace, 1));
    const at = candidatesOf(x.trace, 1, 8).findIndex(({ chosen }) => chosen);
    const coloured = [...svg.querySelectorAll("rect")].filter(
      (rect) => rect.getAttribute("fill") === COLOURS.light.here,
    );
    expect(coloured.map((rect) => number(rect, "y"))).toEqual([59 + 26 * at]);
  });
});

it("arcs go on white with their styles inside, and those on the page stay as they are", () => {
  const shown = svgEl("svg", { class: "arcs" });
  shown.append(svgEl("text", { class: "now" }, "Haus"));
  const before = shown.outerHTML;
  const svg = arcsSvg(shown as SVGSVGElement);
  expect(svg.match(/<(style|rect|text)\b/g)).toEqual(["<style", "<rect", "<text"]);
  expect(svg).toContain(".now{");
  expect(svg).toContain('fill="#ffffff"');
  expect(shown.outerHTML).toBe(before);
});

describe("the large map", () => {
  const drawn = async (id?: string) => {
    type ToImage = (figure: Figure, size: object) => Promise<string>;
    const toImage = vi.fn<ToImage>(async () => "data:image/svg+xml,%3Csvg%2F%3E");
    window.Plotly = { toImage } as never;
    const context = new TestContext(id);
    const svg = await mapSvg(context.picture(), context.state, "attention weight");
    delete window.Plotly;
    const [figure, size] = toImage.mock.lastCall!;
    return { svg, figure, size: size as { width: number; height: number }, context };
  };

  it("is drawn whole, light and on white, with its scale named", async () => {
    const { svg, figure, context, size } = await drawn();
    expect(svg).toBe("<svg/>");
    const { rows, columns } = context.picture();
    const [{ z, showscale, colorbar }] = figure.data;
    expect([z.length, z[0].length]).toEqual([rows.length, columns.length]);
    expect([showscale, colorbar.title.text]).toEqual([true, "attention weight"]);
    const { xaxis, yaxis, paper_bgcolor } = figure.layout;
    expect(xaxis.range).toEqual([-0.5, columns.length - 0.5]);
    expect(yaxis.range).toEqual([rows.length - 0.5, -0.5]);
    expect(paper_bgcolor).toBe("#ffffff");
    expect(size.width).toBeGreaterThan(size.height * 0.5);
  });

  it("gives every cell the same room, however many there are", async () => {
    const found = await Promise.all(["de-en-in-den", "de-en-books-all"].map(drawn));
    const cells = found.map(({ figure, context, size }) => {
      const { l = 0, r = 0 } = figure.layout.margin;
      return (size.width - l - r) / context.picture().columns.length;
    });
    const [short, long] = found.map(({ context }) => context.picture().columns.length);
    expect(long).not.toBe(short);
    for (const each of cells) expect(each).toBeGreaterThan(8);
  });
});
