import { beforeAll, describe, expect, it, vi } from "vitest";
import { TestContext, blankCanvases } from "../../test/context";
import { makeMosaic } from "./mosaic";
import { placesOf } from "./order";

describe("the mosaic", () => {
  beforeAll(blankCanvases);
  const shown = () => {
    const x = new TestContext();
    x.shows(makeMosaic);
    return { x, canvas: x.find<HTMLCanvasElement>("#attention-mosaic canvas") };
  };
  const press = (canvas: HTMLElement, key: string) =>
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

  it("is moved by arrow keys, from head to head and from layer to layer", () => {
    const { x, canvas } = shown();
    x.set({ layer: 1, head: 1 });
    press(canvas, "ArrowRight");
    expect([x.state.layer, x.state.head]).toEqual([1, 2]);
    press(canvas, "ArrowDown");
    expect([x.state.layer, x.state.head]).toEqual([2, 2]);
    press(canvas, "Home");
    expect([x.state.layer, x.state.head]).toEqual([0, 0]);
  });

  it("looks for its room where it may have changed, and not at every step of a replay", () => {
    const { x } = shown();
    const looked = vi.spyOn(x, "places");
    x.set({ step: 2 });
    x.set({ playing: true });
    expect(looked).not.toHaveBeenCalled();
    x.set({ size: {} });
    x.set({ view: "aggregate" }); // whose choice may take a line more
    expect(looked).toHaveBeenCalledTimes(2);
  });

  it("says which head is chosen", () => {
    const { x, canvas } = shown();
    x.set({ layer: 2, head: 3 });
    expect(canvas.getAttribute("aria-label")).toContain("L3 H4");
  });

  it("shows the head that has a role most, and gives every role its number of heads", () => {
    const { x } = shown();
    const [all, ...roles] = [...x.find(".roles").querySelectorAll("button")];
    const numbers = roles.map((button) => Number(button.querySelector("span")!.textContent));
    const { layers, heads } = x.trace.maps.cross;
    expect(Number(all.querySelector("span")!.textContent)).toBe(layers * heads);
    expect(numbers.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(layers * heads);
    roles[0].click();
    expect(x.roleOf("cross", x.state.layer, x.state.head)).toBe(x.state.role);
  });
});

describe("the order of the tiles", () => {
  it.each(["entropy", "distance", "confidence"] as const)("by %s follows it", (sort) => {
    const x = new TestContext();
    x.set({ sort });
    const { heads } = x.trace.maps.cross;
    const places = placesOf(x, false);
    const values = places.map(([l, h]) => x.trace.heads!.cross[sort][l * heads + h]);
    const sorted = [...values].sort((a, b) => (sort === "confidence" ? b - a : a - b));
    expect(values).toEqual(sorted);
    expect(new Set(places.map(String)).size).toBe(x.trace.maps.cross.layers * heads);
  });
});
