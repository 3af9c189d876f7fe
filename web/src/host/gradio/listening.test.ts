import { beforeAll, beforeEach, expect, it, vi, type Mock } from "vitest";
import { listenToPage, type Heard } from "./listening";

const NAMES = ["turned", "typed", "clicked", "left", "spoken", "readdressed"] as const;
const heard = Object.fromEntries(NAMES.map((name) => [name, vi.fn<() => void>()])) as Record<
  keyof Heard,
  Mock<() => void>
>;
beforeAll(() => listenToPage(heard));
beforeEach(() => {
  for (const name of NAMES) heard[name].mockReset();
  document.body.innerHTML = `<div id="direction"><input></div><div id="source-text"><input></div>
    <div id="other"><input></div>`;
});
const tell = (id: string, type: string) =>
  document.querySelector(`#${id} input`)!.dispatchEvent(new Event(type, { bubbles: true }));
const called = () => NAMES.filter((name) => heard[name].mock.calls.length);

it("another direction is heard of, and no other choice", () => {
  tell("other", "change");
  tell("source-text", "change");
  expect(called()).toEqual([]);
  tell("direction", "change");
  expect(called()).toEqual(["turned"]);
});

it("what a script puts into the field is not typed", () => {
  tell("source-text", "input");
  expect(called()).toEqual([]);
});

it("a click is heard of before anything else hears", () => {
  const order: string[] = [];
  heard.clicked.mockImplementation(() => order.push("page"));
  const node = document.querySelector<HTMLElement>("#other input")!;
  node.addEventListener("click", () => order.push("field"));
  node.click();
  expect(order).toEqual(["page", "field"]);
});

it("that the page goes, or speaks another language, is heard of", () => {
  dispatchEvent(new Event("pagehide"));
  dispatchEvent(new Event("explorer-language"));
  expect(called()).toEqual(["left", "spoken"]);
});

it.each([
  ["#t=Haus&d=de-en", true],
  ["#nothing", false],
])("that %s was put into the address is a link is %s", (hash, link) => {
  history.replaceState(null, "", hash);
  dispatchEvent(new Event("hashchange"));
  expect(called()).toEqual(link ? ["readdressed"] : []);
});
