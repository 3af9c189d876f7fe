import { beforeEach, expect, it, vi } from "vitest";
import { settingsText } from "../../trace/settings";
import type { Explorer } from "../../tabs/explorer/explorer";
import { TestContext } from "../../test/context";
import { settingsAsked } from "./fields";
import { makeSettingsSheet } from "./settings-sheet";

let x: TestContext;
const touched = vi.fn();
beforeEach(() => {
  x = new TestContext();
  touched.mockReset();
  document.body.classList.remove("settings-open");
  document.body.insertAdjacentHTML(
    "beforeend",
    `<div id="settings"><div id="method"><input type="radio" value="greedy" checked></div>
      <input id="seed" value="1"></div>`,
  );
});
const made = (shownWith: () => string | null, rows: HTMLElement[] = []) =>
  makeSettingsSheet(x as unknown as Explorer, { rows, shownWith, touched });
const when = () => document.querySelector(".settings-when")!;
const toggle = () => x.find(".settings-toggle");

it("the sheet stands below its button, with the rows that were given", () => {
  const row = document.createElement("p");
  made(() => null, [row]);
  expect(x.find(".under").nextElementSibling?.id).toBe("settings");
  expect(document.querySelector("#settings")!.contains(row)).toBe(true);
});

it("stands there too where it comes after the explorer, and is heard", async () => {
  const sheet = document.querySelector("#settings")!;
  sheet.remove();
  const row = document.createElement("p");
  made(() => null, [row]);
  await Promise.resolve();
  document.body.append(sheet);
  await Promise.resolve();
  expect(x.find(".under").nextElementSibling).toBe(sheet);
  expect(sheet.contains(row)).toBe(true);
  expect(touched).toHaveBeenCalledTimes(1); // the settings are only now known
  sheet.querySelector("#seed")!.dispatchEvent(new Event("input", { bubbles: true }));
  expect(touched).toHaveBeenCalledTimes(2);
});

it("opens and closes, and says so to a reader", () => {
  made(() => null);
  for (const open of [true, false]) {
    toggle().click();
    expect(document.body.classList.contains("settings-open")).toBe(open);
    expect(toggle().getAttribute("aria-expanded")).toBe(String(open));
  }
});

it("tells of a setting that is touched", () => {
  made(() => null);
  document.querySelector("#seed")!.dispatchEvent(new Event("input", { bubbles: true }));
  expect(touched).toHaveBeenCalledTimes(1);
});

it("keeps its button's words as a field is left for it: a press on what goes is lost", () => {
  const speak = made(() => null);
  speak();
  const before = [...toggle().childNodes];
  speak();
  expect(before.every((each, i) => each === toggle().childNodes[i])).toBe(true);
});

it("says that a change waits, until what is shown was made with it", () => {
  let shown: string | null = null;
  const speak = made(() => shown);
  const said = () => [when().classList.contains("waits"), toggle().textContent] as const;
  speak();
  expect(said()[0]).toBe(false); // the page has not opened: nobody knows
  shown = settingsAsked();
  speak();
  const [, before] = said();
  expect(before).toContain(settingsText(x.trace));
  document.querySelector<HTMLInputElement>("#seed")!.value = "2";
  speak();
  expect(said()[0]).toBe(true);
  expect(when().textContent).toContain(settingsText(x.trace));
  expect(toggle().textContent).toContain("changed, not used yet");
  shown = settingsAsked();
  speak();
  expect(said()).toEqual([false, before]);
});
