import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LabAnswer } from "../../protocol/lab";
import type { PlotNode } from "../../plot/plotly";
import { blankCanvases } from "../../test/context";
import { type AnswerProps, paintAnswer, paintLines } from "./answer";
import html from "./lab.html";

let root: HTMLElement;
let clicks: Map<Element, ((event: object) => void)[]>;
const find = <E extends Element = HTMLElement>(selector: string) =>
  root.querySelector<E>(selector)!;
beforeEach(() => {
  blankCanvases();
  root = document.createElement("div");
  root.innerHTML = html;
  document.body.replaceChildren(root);
  clicks = new Map();
  window.Plotly = { react: async () => undefined, relayout: async () => undefined } as never;
  const on = function (this: Element, _: string, listener: (event: object) => void) {
    clicks.set(this, [...(clicks.get(this) ?? []), listener]);
  };
  Object.assign(HTMLDivElement.prototype, { on, _fullLayout: {} });
});
afterEach(() => {
  for (const name of ["on", "_fullLayout"]) delete (HTMLDivElement.prototype as never)[name];
  root.remove();
  dispatchEvent(new Event("lab-followed"));
  dispatchEvent(new Event("explorer-theme"));
  delete window.Plotly;
});
const paint = (answer: LabAnswer, more: Partial<AnswerProps> = {}) => {
  const choose = vi.fn();
  const take = vi.fn();
  paintAnswer(find, answer, { way: "de-en", choose, taken: () => [], take, ...more });
  return { choose, take };
};
const cells = (row: Element) => [...row.children].map((cell) => cell.textContent);
const FIGURE = JSON.stringify({ light: { data: [], layout: {} }, dark: [] });
const plots = () => [...root.querySelectorAll<PlotNode>(".lab-figures .plot")];

describe("an answer", () => {
  it("says its lines with what stands in their holes", () => {
    paint({ lines: [["Before: {text} (log p {score})", { text: "Old house", score: "−3.21" }]] });
    expect(find(".lab-lines").textContent).toBe("Before: Old house (log p −3.21)");
  });

  it("has a table of its rows", () => {
    paint({ table: { head: ["candidate", "probability"], rows: [["old", "0.5"], ["big", "0.2"]] } }); // prettier-ignore
    const rows = [...find(".lab-table").querySelectorAll("tr")];
    expect(rows.map(cells)).toEqual([
      ["candidate", "probability"],
      ["old", "0.5"],
      ["big", "0.2"],
    ]);
    expect(rows[0].querySelectorAll("th[scope=col]")).toHaveLength(2);
    paint({});
    expect(find(".lab-table").childNodes).toHaveLength(0);
  });

  it("shows one of its slides, beginning with the last", () => {
    const slide = (n: number): [string, { n: number }] => ["Layer {n}", { n }];
    paint({ slides: [slide(1), slide(2), slide(3)] });
    const shown = () => find(".lab-slide").textContent;
    const slider = find<HTMLInputElement>(".lab-slides input");
    expect([shown(), slider.max, slider.value]).toEqual(["Layer 3", "2", "2"]);
    slider.value = "0";
    slider.dispatchEvent(new Event("input"));
    expect(shown()).toBe("Layer 1");
  });

  it("may change its sentences and keep the rest", () => {
    paint({ table: { head: ["token"], rows: [["old"]] }, lines: [["One", {}]] });
    paintLines(find, { lines: [["Two", {}]] });
    expect(find(".lab-lines").textContent).toBe("Two");
    expect(find(".lab-table").textContent).toContain("old");
  });

  it("has its figures in place of the former ones, with their captions", () => {
    const pictured = () => find(".lab-answer").classList.contains("pictured");
    paint({ figures: [FIGURE, FIGURE], captions: ["First", "Second"] });
    expect([...root.querySelectorAll("figcaption")].map((node) => node.textContent)).toEqual([
      "First",
      "Second",
    ]);
    expect([plots().length, pictured()]).toEqual([2, true]);
    paint({ lines: [["Nothing to see", {}]] });
    expect([plots().length, pictured()]).toEqual([0, false]);
  });

  it("links words, of one's own those that were not found dashed", () => {
    paint({
      ribbons: {
        ...{ source: ["Das", "Haus"], target: ["The", "house"] },
        words: [[0.9, 0.1], [0.2, 0.7]], // prettier-ignore
        links: [[0, 0], [1, 1]], // prettier-ignore
        gold: [[0, 0], [0, 1]], // prettier-ignore
      },
    });
    const svg = find(".lab-ribbons svg");
    for (const word of ["Das", "Haus", "The", "house"]) expect(svg.textContent).toContain(word);
    const missed = [...svg.querySelectorAll("[class*=missed], [stroke-dasharray]")];
    expect(missed).toHaveLength(1);
    expect(find(".lab-answer").classList.contains("pictured")).toBe(true);
  });
});

describe("a click on a figure", () => {
  const click = (n: number, x: number, y: number) =>
    clicks.get(plots()[n])?.forEach((listener) => listener({ points: [{ x, y }] }));

  it("chooses the candidate of its row", () => {
    const { choose } = paint({ figures: [FIGURE, FIGURE], picks: ["old", "big"] });
    click(0, 0, 1);
    click(0, 0, 7); // all others
    click(1, 0, 0); // another figure
    expect(choose.mock.calls).toEqual([[{ choice: "big" }]]);
  });

  it("chooses a cell, counted from one", () => {
    const { choose } = paint({ figures: [FIGURE], cells: true });
    click(0, 2, 0);
    expect(choose.mock.calls).toEqual([[{ query: 1, key: 3 }]]);
  });

  it("chooses nothing where there is nothing to choose", () => {
    const { choose } = paint({ figures: [FIGURE] });
    click(0, 0, 0);
    expect(choose).not.toHaveBeenCalled();
  });

  it("takes the cell that it stands for, in each figure its own", () => {
    const follow = { view: "path", field: "cells", cells: [[["a", "b"]], [["c", "d"]]] };
    const { take } = paint({ figures: [FIGURE, FIGURE], follow });
    click(0, 1, 0);
    click(1, 0, 0);
    expect(take.mock.calls).toEqual([["b"], ["c"]]);
  });
});
