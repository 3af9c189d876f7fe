import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { listenToKeys } from "./keys";

let pressed: string[] = [];
beforeAll(listenToKeys);
beforeEach(() => {
  pressed = [];
  document.body.className = "";
  document.body.innerHTML = `
    <div id="source-text"><textarea></textarea></div>
    <div id="compare-a"><textarea></textarea></div>
    <div id="compare-b"><textarea></textarea></div>
    <div id="elsewhere"><textarea></textarea></div>`;
  for (const id of ["translate", "compare-run", "stop"]) {
    const button = document.body.appendChild(document.createElement("button"));
    button.id = id;
    button.addEventListener("click", () => pressed.push(id));
  }
});
afterAll(() => void (document.body.className = ""));

/** Press a key in a field; true: the browser does nothing of its own. */
const key = (id: string, init: KeyboardEventInit & { keyCode?: number }): boolean => {
  const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
  if (init.keyCode) Object.defineProperty(event, "keyCode", { value: init.keyCode });
  document.querySelector(`#${id} textarea`)!.dispatchEvent(event);
  return event.defaultPrevented;
};

it.each([
  ["source-text", "translate"],
  ["compare-a", "compare-run"],
  ["compare-b", "compare-run"],
])("Enter in %s presses %s, with Ctrl too", (id, button) => {
  expect(key(id, { key: "Enter" })).toBe(true);
  expect(key(id, { key: "Enter", ctrlKey: true })).toBe(true);
  expect(pressed).toEqual([button, button]);
});

it.each([
  ["with Shift", "source-text", { key: "Enter", shiftKey: true }],
  ["that chooses a sign", "source-text", { key: "Enter", isComposing: true }],
  ["that ends a composition in Safari", "source-text", { key: "Enter", keyCode: 229 }],
  ["in another field", "elsewhere", { key: "Enter" }],
])("Enter %s is the field's own", (_, id, init) => {
  expect(key(id, init)).toBe(false);
  expect(pressed).toEqual([]);
});

it("Escape stops what is under way, and nothing else", () => {
  key("source-text", { key: "Escape" });
  expect(pressed).toEqual([]);
  document.body.classList.add("busy");
  key("source-text", { key: "Escape" });
  expect(pressed).toEqual(["stop"]);
});

it("Enter in the midst of a request stops it first", () => {
  document.body.classList.add("busy");
  key("source-text", { key: "Enter" });
  expect(pressed).toEqual(["stop", "translate"]);
});
