import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Control } from "../../protocol/lesson";
import { makeControls } from "./controls";

const choice = (...names: string[]): Control => ({
  ...{ name: "mask", kind: "choice", value: names[0] },
  choices: names.map((name) => [name, `the ${name}`]),
});
const range: Control = {
  ...{ name: "head", kind: "range", value: 2, choices: [], low: 1, high: 8, step: 1 },
};

const say = (english: string) => english.toUpperCase();

describe("what can be turned at a station", () => {
  let box: HTMLElement;
  let change: ReturnType<typeof vi.fn>;
  let paint: (controls: Control[]) => void;
  beforeEach(() => {
    box = document.createElement("div");
    document.body.replaceChildren(box);
    change = vi.fn();
    const controls = makeControls(box);
    paint = (shown) => controls({ of: "masks", controls: shown, say, change: change as never });
  });
  afterEach(() => document.body.replaceChildren());

  it("is a row of buttons where the choices are few, and a list where they are many", () => {
    paint([choice("none", "future")]);
    const [none, future] = box.querySelectorAll("button");
    expect([none, future].map((node) => node.getAttribute("aria-pressed"))).toEqual([
      "true",
      "false",
    ]);
    future.click();
    expect(change).toHaveBeenLastCalledWith("mask", "future");
    paint([choice("a", "b", "c", "d", "e")]);
    expect(box.querySelector("button")).toBeNull();
    const list = box.querySelector("select")!;
    expect([...list.options].map(({ text }) => text)).toContain("THE D");
    list.selectedIndex = 3;
    list.dispatchEvent(new Event("change"));
    expect(change).toHaveBeenLastCalledWith("mask", "d");
  });

  it("tells a number once it is written, and none that was emptied", () => {
    paint([{ ...range, kind: "number" }]);
    const field = box.querySelector("input")!;
    field.value = "5";
    field.dispatchEvent(new Event("input"));
    expect(change).not.toHaveBeenCalled();
    field.dispatchEvent(new Event("change"));
    expect(change).toHaveBeenLastCalledWith("head", 5, 0);
    field.value = "";
    field.dispatchEvent(new Event("change"));
    expect(change).toHaveBeenCalledOnce();
  });

  it("stays under the hand that draws its slider, whatever was answered meanwhile", () => {
    paint([range]);
    const slider = box.querySelector("input")!;
    slider.focus();
    slider.value = "6";
    slider.dispatchEvent(new Event("input"));
    expect(change).toHaveBeenLastCalledWith("head", 6, 200);
    expect(box.querySelector("output")!.textContent).toBe("6");
    paint([{ ...range, value: 4 }]);
    expect(box.querySelector("input")).toBe(slider);
    expect(slider.value).toBe("6");
    paint([{ ...range, value: 4, high: 4 }]); // another slider: it is made anew, and has the focus
    expect(box.querySelector("input")).not.toBe(slider);
    expect(document.activeElement).toBe(box.querySelector("input"));
  });

  it("keeps the focus on the choice that holds", () => {
    paint([choice("none", "future")]);
    box.querySelectorAll("button")[1].focus();
    paint([{ ...choice("none", "future"), value: "future" }]);
    expect((document.activeElement as HTMLElement).textContent).toBe("THE FUTURE");
  });
});
