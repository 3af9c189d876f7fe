import { afterEach, beforeEach, expect, it } from "vitest";
import { METHODS } from "../../protocol/registry";
import {
  chosenSettings,
  directions,
  fillSettings,
  methods,
  segments,
  SETTINGS,
  settingsForm,
  settingValues,
} from "./form";
import { CONTROLLED } from "./settings";

beforeEach(() => {
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: [] },
    site: { offers: ["de-en", "en-zh"].map((direction) => ({ direction, label: direction })) },
  };
  document.body.innerHTML = '<div id="settings"><div class="form"></div></div>';
});
afterEach(() => void delete window.__explorerData);
const form = () => settingsForm(document.querySelector("#settings .form")!);
const selected = (wrap: Element) =>
  [...wrap.querySelectorAll(".selected")].map((each) => each.textContent);

it("of segments the chosen one is selected, and after another choice that one", () => {
  const wrap = segments("way", [["A", "a"], ["B", "b"]], "b"); // prettier-ignore
  expect(selected(wrap)).toEqual(["B"]);
  const [a, b] = wrap.querySelectorAll("input");
  [a!.checked, b!.checked] = [true, false];
  a!.dispatchEvent(new Event("change", { bubbles: true }));
  expect(selected(wrap)).toEqual(["A"]);
});

it("directions are the site's, and methods those of the registry and the checkpoint's own", () => {
  const values = (wrap: Element) => [...wrap.querySelectorAll("input")].map(({ value }) => value);
  expect(values(directions("d", "en-zh"))).toEqual(["de-en", "en-zh"]);
  expect(selected(directions("d", "en-zh"))).toEqual(["en-zh"]);
  expect(values(methods("m"))).toEqual(["automatic", ...Object.keys(METHODS)]);
});

it("begins with the registry's own values, each within its bounds", () => {
  form();
  const [method, ...values] = settingValues();
  expect(method).toBe("automatic");
  expect(chosenSettings()).toEqual({});
  CONTROLLED.forEach(({ name, control }, at) => {
    const input = document.querySelector<HTMLInputElement>(`[data-setting="${name}"]`)!;
    expect(String(control.value)).toBe(input.value);
    if (control.kind !== "text")
      expect([input.min, input.max]).toEqual([String(control.low), String(control.high)]);
    expect(values[at]).toBeDefined();
  });
});

it("is filled in the order of its settings, and gives the same back", () => {
  form();
  const low = CONTROLLED.map(({ control }) => (control.kind === "text" ? "7" : control.low));
  fillSettings(["beam", ...low]);
  expect(SETTINGS).toHaveLength(1 + low.length);
  expect(document.querySelector<HTMLInputElement>("#method input[value=beam]")!.checked).toBe(true);
  expect(settingValues().slice(1).map(String)).toEqual(low.map(String));
  // what a slider stands at is shown beside it
  for (const input of document.querySelectorAll<HTMLInputElement>("#settings input[type=range]"))
    expect(input.parentElement!.querySelector("output")!.textContent).toBe(input.value);
});
