import { beforeEach, describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makeArcs } from "./arcs";

describe("the arcs", () => {
  let x: TestContext;
  let box: HTMLElement;
  beforeEach(() => {
    x = new TestContext();
    box = x.find("#attention-arcs");
    Object.defineProperty(box, "clientWidth", { value: 600 });
    x.shows(makeArcs);
    x.set({ view: "arcs" });
  });
  const tokens = (side: string) => [...box.querySelectorAll<SVGElement>(`[data-side="${side}"]`)];
  const links = () => [...box.querySelectorAll("path")];
  /** The weights of a head that are drawn: nobody would see one below 0.02. */
  const drawn = (layer: number, head: number) =>
    [...x.trace.head("cross", layer, head)].filter((weight) => weight >= 0.02);

  it("are there where they are chosen, and only there", () => {
    expect(box.hidden).toBe(false);
    x.set({ view: "heatmap" });
    expect(box.hidden).toBe(true);
  });

  it("link each token to those that it looks at", () => {
    expect(tokens("rows")).toHaveLength(x.trace.tgt.length);
    expect(tokens("columns").map((node) => node.textContent)).toEqual(
      x.trace.src.map(({ s }) => s),
    );
    expect(links()).toHaveLength(drawn(x.state.layer, x.state.head).length);
  });

  it("are those of the present row alone, by choice, or of what is pinned", () => {
    const row = (i: number) => x.picture().z[i].filter((weight) => weight >= 0.02).length;
    x.set({ only: true });
    expect(links()).toHaveLength(row(1));
    x.pin("rows", 2);
    expect(links()).toHaveLength(row(2));
  });

  it("say where a token looks while it is pointed at, and nothing once the mouse has left", () => {
    tokens("rows")[2].dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    const said = x.told!.map((each) => (each as Node).textContent ?? each).join("");
    const { z, columns } = x.picture();
    expect(said).toContain("looks at");
    expect(said).toContain(columns[z[2].indexOf(Math.max(...z[2]))].text);
    box.dispatchEvent(new MouseEvent("mouseleave"));
    expect(x.told).toBeNull();
    expect(links()).toHaveLength(drawn(x.state.layer, x.state.head).length);
  });

  it("choose the row that is clicked, and pin a column, or with Shift a row", () => {
    const click = (node: Element, shiftKey = false) =>
      node.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey }));
    click(tokens("rows")[3]);
    expect(x.state.step).toBe(3);
    click(tokens("columns")[0]);
    click(tokens("rows")[2], true);
    expect(x.state.pins).toEqual({ rows: [2], columns: [0] });
    expect(x.state.step).toBe(3);
  });

  it("follow the arrow keys to either end", () => {
    const press = (key: string) => box.dispatchEvent(new KeyboardEvent("keydown", { key }));
    press("ArrowDown");
    expect(x.state.step).toBe(2);
    for (let i = 0; i < 9; i++) press("ArrowUp");
    expect(x.state.step).toBe(0);
  });

  it("of several heads lie over each other, each in a colour, and a click takes one away", () => {
    x.set({
      overlay: [
        [0, 0],
        [1, 2],
      ],
    });
    const legend = () => [...box.querySelectorAll<HTMLElement>(".legend button")];
    expect(legend().map((button) => button.textContent)).toEqual(["L1 H1 ×", "L2 H3 ×"]);
    expect(links()).toHaveLength(drawn(0, 0).length + drawn(1, 2).length);
    expect(new Set(links().map((path) => path.getAttribute("stroke")))).toHaveLength(2);
    legend()[0].click();
    expect(x.state.overlay).toEqual([[1, 2]]);
  });
});
