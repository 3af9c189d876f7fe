import { beforeEach, expect, it, vi } from "vitest";
import { mountTabs } from "./tabs";

const opened = vi.fn();
beforeEach(() => {
  opened.mockReset();
  document.body.innerHTML = `<div id="tabs"><div class="tab-container" role="tablist"></div>
    ${["explorer", "compare", "lab"]
      .map((name) => `<div class="tabitem" id="${name}-tab" data-name="${name}"></div>`)
      .join("")}</div>`;
  mountTabs(opened);
});
const buttons = () => [...document.querySelectorAll<HTMLElement>("[role=tab]")];
const shown = () =>
  [...document.querySelectorAll<HTMLElement>(".tabitem")]
    .filter(({ hidden }) => !hidden)
    .map(({ id }) => id);
const key = (name: string) =>
  document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));

it("the first panel is open, and one at a time", () => {
  expect(shown()).toEqual(["explorer-tab"]);
  buttons()[2]!.click();
  expect(shown()).toEqual(["lab-tab"]);
  expect(opened.mock.calls.map(([{ id }]) => id)).toEqual(["explorer-tab", "lab-tab"]);
  expect(document.body.dataset.tab).toBe("lab");
});

it("what is open is told to a reader, and is where Tab stops", () => {
  buttons()[1]!.click();
  expect(buttons().map((each) => each.getAttribute("aria-selected"))).toEqual([
    "false",
    "true",
    "false",
  ]);
  expect(buttons().map(({ tabIndex }) => tabIndex)).toEqual([-1, 0, -1]);
  expect(buttons().map((each) => each.getAttribute("aria-controls"))).toEqual([
    "explorer-tab",
    "compare-tab",
    "lab-tab",
  ]);
});

it("arrows go round, and open what they come to", () => {
  buttons()[0]!.focus();
  key("ArrowLeft");
  expect(shown()).toEqual(["lab-tab"]);
  expect(document.activeElement).toBe(buttons()[2]);
  key("ArrowRight");
  key("ArrowRight");
  expect(shown()).toEqual(["compare-tab"]);
  key("a");
  expect(shown()).toEqual(["compare-tab"]);
});
