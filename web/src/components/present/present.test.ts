import { beforeEach, describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makePresent } from "./present";

describe("the mode to present in", () => {
  let x: TestContext;
  let button: HTMLElement;
  beforeEach(() => {
    x = new TestContext();
    x.shows(makePresent);
    button = x.find(".present");
  });
  const press = (key: string, options: KeyboardEventInit = {}, node: Element = document.body) =>
    node.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options }),
    );
  const on = () => [
    x.state.presenting,
    x.root.classList.contains("presenting"),
    button.getAttribute("aria-pressed") === "true",
  ];

  it("is entered and left by its button, and the button says which", () => {
    const title = button.title;
    button.click();
    expect(on()).toEqual([true, true, true]);
    expect(button.title).not.toBe(title);
    button.click();
    expect(on()).toEqual([false, false, false]);
    expect(button.title).toBe(title);
  });

  it("is entered and left by F, and left by Escape", () => {
    press("f");
    expect(on()).toEqual([true, true, true]);
    press("F");
    expect(on()).toEqual([false, false, false]);
    press("f");
    expect(press("Escape")).toBe(false); // nobody else is to hear it
    expect(on()).toEqual([false, false, false]);
    expect(press("Escape")).toBe(true);
  });

  it("leaves alone what is typed and what the browser understands", () => {
    const field = document.createElement("input");
    document.body.append(field);
    press("f", {}, field);
    press("f", { ctrlKey: true });
    press("f", { metaKey: true });
    expect(on()).toEqual([false, false, false]);
  });

  it("shows all of the page anew: nothing is pointed at, and the map is no longer fitted", () => {
    x.set({ hover: { i: 0, j: 0 }, fit: true });
    button.click();
    expect(x.state).toMatchObject({ hover: null, fit: false });
  });

  it("hears no key once the explorer is taken away", () => {
    x.life.abort();
    press("f");
    expect(x.state.presenting).toBe(false);
  });
});
