import { beforeAll, describe, expect, it } from "vitest";
import { ribbons, ribbonsText } from "./ribbons";

/** Every letter is as wide as half its size. */
beforeAll(() => {
  const pen = {
    font: "",
    measureText: (text: string) => ({
      width: text.length * 0.5 * parseFloat(pen.font.split(" ")[1]),
    }),
  };
  HTMLCanvasElement.prototype.getContext = (() => pen) as never;
});

const props = {
  rows: [
    { name: "Source", words: ["the", "red", "house"], lang: "en" },
    { name: "Target", words: ["das", "Haus"], lang: "de", fresh: [false, true] },
  ],
  bands: [
    [
      [0.9, 0],
      [0.07, 0.08],
      [0, 1],
    ],
  ],
  width: 800,
  label: "How they align",
};
const texts = (svg: Element) => [...svg.querySelectorAll("text")].map((node) => node.textContent);
const numbers = (nodes: Iterable<Element>, name: string) =>
  [...nodes].map((node) => Number(node.getAttribute(name)));

describe("ribbons", () => {
  it("are one for each weight that can be seen, the wider the heavier", () => {
    const paths = ribbons(props).querySelectorAll("path");
    expect([...paths].map((path) => path.querySelector("title")!.textContent)).toEqual([
      "the – das 0.90",
      "red – Haus 0.08",
      "house – Haus 1.00",
    ]);
    const [first, second, third] = numbers(paths, "stroke-width");
    expect(third).toBeGreaterThan(first);
    expect(first).toBeGreaterThan(second);
  });

  it("stand between rows of words, each with its name and language", () => {
    const svg = ribbons(props);
    expect(svg.getAttribute("aria-label")).toBe("How they align");
    expect(texts(svg)).toEqual(["Source", "the", "red", "house", "Target", "das", "Haus"]);
    expect(svg.querySelectorAll('text[lang="de"]')).toHaveLength(2);
    const words = [...svg.querySelectorAll('text[lang="en"]')];
    expect(new Set(numbers(words, "y")).size).toBe(1);
    const [a, b, c] = numbers(words, "x");
    expect(a < b && b < c).toBe(true);
  });

  it("stand between columns of words on a narrow page, and for a long sentence", () => {
    const long = { ...props.rows[0], words: Array.from({ length: 60 }, () => "lengthy") };
    for (const svg of [
      ribbons({ ...props, width: 300 }),
      ribbons({ ...props, rows: [long, props.rows[1]], bands: [] }),
    ]) {
      expect(svg.classList.contains("narrow")).toBe(true);
      const words = [...svg.querySelectorAll('text[lang="en"]')];
      expect(new Set(numbers(words, "x")).size).toBe(1);
      const ys = numbers(words, "y");
      expect(ys).toEqual([...ys].sort((a, b) => a - b));
    }
    expect(ribbons(props).classList.contains("narrow")).toBe(false);
  });

  it("underline a marked word as wide as it is, and dash a missed link", () => {
    const svg = ribbons({ ...props, missed: [[1, 0]] });
    const [line, ...others] = svg.querySelectorAll(".fresh");
    expect(others).toEqual([]);
    const [from, to] = ["x1", "x2"].map((name) => Number(line.getAttribute(name)));
    expect(to - from).toBeCloseTo(4 * 8); // "Haus" in 16 pixels
    const word = [...svg.querySelectorAll("text")].find((node) => node.textContent === "Haus")!;
    expect((from + to) / 2).toBeCloseTo(Number(word.getAttribute("x")));
    expect(svg.querySelectorAll("path.missed")).toHaveLength(1);
  });

  it("are a file of their own that any reader of XML takes", () => {
    const rows = [{ name: "<A & B>", words: ["a\u0001b"] }, props.rows[1]];
    const text = ribbonsText({ ...props, rows, bands: [[[1, 0]]] });
    const read = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    expect(read.namespaceURI).toBe("http://www.w3.org/2000/svg");
    expect(texts(read)).toContain("<A & B>");
    expect(texts(read)).toContain("a\ufffdb");
    expect(read.querySelector("rect")!.getAttribute("fill")).toBe("#ffffff");
  });
});
