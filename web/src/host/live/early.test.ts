import { afterEach, beforeEach, expect, it, vi } from "vitest";

beforeEach(() => {
  vi.resetModules();
  vi.spyOn(navigator, "language", "get").mockReturnValue("de");
  document.head.replaceChildren();
  window.__explorerData = {
    ...{ address: "examples/", settings: [], directions: ["en-zh", "de-en"] },
    examples: [
      { id: "en-father", direction: "en-zh", text: "My father" },
      { id: "de-park", direction: "de-en", text: "In den Park" },
    ],
    words: { de: "words/de.json" },
  };
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.resetModules();
  delete window.__explorerData;
  history.replaceState(null, "", "/");
});
const asked = vi.fn((address: string) => Promise.resolve(new Response(`{"from": "${address}"}`)));
const ahead = async () => {
  asked.mockClear();
  vi.stubGlobal("fetch", asked);
  await import("./early");
  return asked.mock.calls.map(([address]) => address);
};

it("what the page opens with is on its way: its example and its words", async () =>
  expect(await ahead()).toEqual(["examples/de-park.json", "words/de.json"]));

it("is that of the direction that the address asks for", async () => {
  history.replaceState(null, "", "/?direction=en-zh");
  expect(await ahead()).toContain("examples/en-father.json");
});

it("is no example where a sentence is linked to", async () => {
  history.replaceState(null, "", "/#t=Guten+Tag&d=de-en");
  expect(await ahead()).toEqual(["words/de.json"]);
});

it("comes once: who asks for it takes the answer that is on its way", async () => {
  await ahead();
  const { stored } = await import("../gradio/stored");
  expect(await stored("de-park")).toEqual({ from: "examples/de-park.json" });
  expect(asked).toHaveBeenCalledTimes(2);
  expect(await stored("de-park")).toEqual({ from: "examples/de-park.json" }); // fetched again
  expect(asked).toHaveBeenCalledTimes(3);
});

it("is asked for once more where it did not come", async () => {
  asked.mockImplementationOnce(() => Promise.reject(new Error("no network")));
  await ahead();
  const { stored } = await import("../gradio/stored");
  expect(await stored("de-park")).toEqual({ from: "examples/de-park.json" });
});
