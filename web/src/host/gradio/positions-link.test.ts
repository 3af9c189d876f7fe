import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { copyPositionsLink, followPositions, positionsInLink } from "./positions-link";

let copied: string[];
beforeEach(() => {
  vi.useFakeTimers();
  copied = [];
  vi.spyOn(navigator.clipboard, "writeText").mockImplementation(async (text) => {
    copied.push(text);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  history.replaceState(null, "", "/");
});

const FIELDS = `<button id="position-link">Copy link</button>
  <div id="position-table"><input type="radio" name="t" value="sines"><input type="radio" name="t"
    value="learned"></div>
  <div id="position-layout"><input type="radio" name="l" value="pairs"></div>
  <div id="position-length"><input type="number" value="50"></div>
  <div id="position-depth"><input type="number" value="64"></div>
  <div id="position-curves"><textarea>1, 2</textarea></div>`;
const value = (id: string) =>
  document.querySelector<HTMLInputElement>(
    `#${id} :is(input:checked, input[type=number], textarea)`,
  )?.value;

it("a link sets the tab as it was when the link was copied", async () => {
  document.body.innerHTML = FIELDS;
  const set = ["learned", "pairs", 128, 32, "5, 6, 10-12"];
  await copyPositionsLink(...set);
  expect(document.querySelector("#position-link")!.textContent).toBe("Link copied");
  await vi.advanceTimersByTimeAsync(3000);
  expect(document.querySelector("#position-link")!.textContent).toBe("Copy link");

  document.body.innerHTML = FIELDS;
  history.replaceState(null, "", new URL(copied[0]!).hash);
  expect(positionsInLink()).toBe(true);
  followPositions();
  const ids = ["table", "layout", "length", "depth", "curves"].map((name) => `position-${name}`);
  expect(ids.map(value)).toEqual(set.map(String));
});

it("waits until Gradio has built the tab", async () => {
  document.body.innerHTML = "";
  history.replaceState(null, "", "#positions=1&n=99");
  followPositions();
  await vi.advanceTimersByTimeAsync(1000);
  document.body.innerHTML = FIELDS;
  await vi.advanceTimersByTimeAsync(200);
  expect([value("position-length"), value("position-depth")]).toEqual(["99", "64"]);
  expect(vi.getTimerCount()).toBe(0);
});

it("leaves the tab as it is without a link", () => {
  document.body.innerHTML = FIELDS;
  history.replaceState(null, "", "#t=Haus");
  followPositions();
  expect([positionsInLink(), value("position-length"), vi.getTimerCount()]).toEqual([
    false,
    "50",
    0,
  ]);
});

it("takes no value for a choice that is not offered", () => {
  document.body.innerHTML = FIELDS;
  history.replaceState(null, "", "#positions=1&table=none");
  followPositions();
  expect(value("position-table")).toBeUndefined();
});
