import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { makeLoading } from "./loading";

let states: Record<string, string | Error>;
let notice: HTMLElement;
let asked: number;
beforeEach(() => {
  vi.useFakeTimers();
  asked = 0;
  document.body.innerHTML = `<p class="notice"></p><div id="direction"><input type="radio" name="d"
    value="de-en" checked><input type="radio" name="d" value="en-zh"></div>`;
  notice = document.querySelector("p")!;
});
afterEach(() => void vi.useRealTimers());

const look = () => {
  const x = {
    find: () => notice,
    notice: (text: string, isError = false) => {
      notice.textContent = text;
      notice.className = isError ? "error" : "";
    },
  };
  const server = {
    ready: async ({ direction }: { direction: string }) => {
      asked++;
      const state = states[direction]!;
      if (state instanceof Error) throw state;
      return { state };
    },
  };
  return makeLoading(x as unknown as Explorer, server as unknown as ExplorerServer);
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("a model that loads is told of after a second, until it is there", async () => {
  states = { "de-en": "loading" };
  look()();
  await pass(500);
  expect(notice.textContent).toBe("");
  await pass(2600);
  expect(notice.textContent).toMatch(/^The model de-en is loading \([23] s\)/);
  states["de-en"] = "ready";
  await pass(1100);
  const before = asked;
  await pass(5000);
  expect([notice.textContent, asked]).toEqual(["", before]);
});

it("a server that does not answer is asked again", async () => {
  states = { "de-en": new Error("gone") };
  look()();
  await pass(3000);
  expect(notice.textContent).toContain("is loading");
  states["de-en"] = "ready";
  await pass(1100);
  expect(notice.textContent).toBe("");
});

it("why a model will not come is told, and it is not waited for", async () => {
  states = { "de-en": "the weights are damaged" };
  look()();
  await pass(10);
  expect([notice.textContent, notice.className]).toEqual(["the weights are damaged", "error"]);
  const before = asked;
  await pass(5000);
  expect(asked).toBe(before);
});

it("what another part has said stays", async () => {
  states = { "de-en": "loading" };
  look()();
  await pass(2100);
  notice.textContent = "The text is too long.";
  await pass(2000);
  states["de-en"] = "ready";
  await pass(2000);
  expect(notice.textContent).toBe("The text is too long.");
});

it("what comes of a direction that was left is not told", async () => {
  states = { "de-en": "the weights are damaged", "en-zh": "ready" };
  look()();
  for (const radio of document.querySelectorAll("input")) radio.checked = radio.value === "en-zh";
  await pass(2000);
  expect(notice.textContent).toBe("");
});
