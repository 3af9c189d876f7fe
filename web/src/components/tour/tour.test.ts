import { beforeEach, describe, expect, it, vi } from "vitest";
import { TestContext } from "../../test/context";
import { makeTour } from "./tour";

const STOPS = 6;

describe("the tour", () => {
  beforeEach(() => localStorage.clear());
  const shown = ({ whole = true } = {}) => {
    const x = new TestContext();
    if (whole)
      document.body.insertAdjacentHTML(
        "beforeend",
        '<div id="tabs"><button data-tab-id="lab-tab"></button></div>',
      );
    x.shows(makeTour);
    const card = x.find(".tour");
    const button = (text: string) =>
      [...card.querySelectorAll("button")].find((each) => each.textContent === text);
    return { x, card, button, begin: () => x.find(".export [data-tour]").click() };
  };
  const place = (card: Element) => card.querySelector(".cap")!.textContent;

  it("is offered once, and only on a page of its own", () => {
    expect(shown({ whole: false }).x.find(".tour-invite").hidden).toBe(true);
    const { x } = shown();
    expect(x.find(".tour-invite").hidden).toBe(false);
    x.find(".tour-no").click();
    expect(x.find(".tour-invite").hidden).toBe(true);
    expect(shown().x.find(".tour-invite").hidden).toBe(true);
  });

  it("goes from stop to stop and back, marks what it tells of, and ends", () => {
    const { x, card, button, begin } = shown();
    begin();
    expect(card.hidden).toBe(false);
    expect(document.activeElement).toBe(card);
    const marked = () => [...x.root.querySelectorAll(".toured")];
    expect(place(card)).toBe(`1 / ${STOPS}`);
    expect(marked()).toEqual([x.find(".chips.src")]);
    expect(card.textContent).toContain(`${x.trace.src.length} tokens`);
    expect(button("Back")).toBeUndefined();
    button("Next stop")!.click();
    expect(marked()).toEqual([x.find(".chips.tgt")]);
    button("Back")!.click();
    expect(place(card)).toBe(`1 / ${STOPS}`);
    for (let n = 1; n < STOPS; n++) button("Next stop")!.click();
    expect(button("Skip the tour")).toBeUndefined();
    button("Done")!.click();
    expect(card.hidden).toBe(true);
    expect(marked()).toEqual([]);
    expect(document.activeElement).toBe(x.find(".export [data-tour]"));
  });

  it("goes on by Enter, pressed again where it began", () => {
    const { card, button, begin } = shown();
    begin();
    const enter = (node: Element) =>
      node.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    enter(card);
    expect(place(card)).toBe(`2 / ${STOPS}`);
    enter(button("Back")!);
    expect(place(card)).toBe(`2 / ${STOPS}`);
  });

  it("shows the head that aligns best while it tells of it", () => {
    const { x, button, begin } = shown();
    x.set({ kind: "encoder", layer: 0, head: 0, view: "arcs" });
    begin();
    expect(x.state.view).toBe("arcs");
    button("Next stop")!.click();
    button("Next stop")!.click();
    expect(x.state).toMatchObject({ kind: "cross", view: "heatmap", ...x.trace.leading });
  });

  it("shows a row in which the head does what is told of it", () => {
    const { x, button, begin } = shown();
    begin();
    for (let n = 0; n < 3; n++) button("Next stop")!.click();
    const { kind, layer, head } = x.state;
    expect(x.trace.stats(kind, layer, head)!.role).toBe("previous");
    const { rows, columns } = x.trace.maps[kind];
    const map = x.trace.head(kind, layer, head);
    const keyOf = (row: number) => {
      const seen = kind === "decoder" ? row + 1 : columns;
      const weights = [...map.subarray(row * columns, row * columns + seen)];
      return weights.indexOf(Math.max(...weights));
    };
    const strays = Array.from({ length: rows - 1 }, (_, i) => i + 1).find(
      (i) => keyOf(i) !== i - 1,
    );
    for (const step of [strays!, rows - 1, 1]) {
      x.set({ step, query: step }); // wherever one was
      button("Back")!.click();
      button("Next stop")!.click();
      const row = x.state.kind === "encoder" ? x.state.query : x.state.step;
      expect(keyOf(row)).toBe(row - 1);
    }
  });

  it("follows arrow keys, and Escape ends it", () => {
    const { card, begin } = shown();
    const press = (key: string) => card.dispatchEvent(new KeyboardEvent("keydown", { key }));
    begin();
    press("ArrowLeft");
    expect(place(card)).toBe(`1 / ${STOPS}`);
    press("ArrowRight");
    expect(place(card)).toBe(`2 / ${STOPS}`);
    press("Escape");
    expect(card.hidden).toBe(true);
  });

  it("leads to the lab, and ends there", () => {
    const { card, button, begin } = shown();
    const opened = vi.fn();
    document.querySelector("#tabs button")!.addEventListener("click", opened);
    begin();
    for (let n = 0; n < 4; n++) button("Next stop")!.click();
    button("Open the lab")!.click();
    expect(opened).toHaveBeenCalledTimes(1);
    expect(card.hidden).toBe(true);
  });

  it("does not begin while the translation is being written", () => {
    const { x, card, begin } = shown();
    Object.assign(x.trace, { live: true });
    begin();
    expect(card.hidden).toBe(true);
  });
});
