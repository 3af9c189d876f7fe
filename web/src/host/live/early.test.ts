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
  vi.resetModules();
  delete window.__explorerData;
  history.replaceState(null, "", "/");
});
const ahead = async () => {
  // not put into the page, which would ask for them
  const append = vi.spyOn(document.head, "append").mockImplementation(() => undefined);
  await import("./early");
  return append.mock.calls.flat().map((node) => {
    const of = (name: string) => (node as Element).getAttribute(name);
    expect(["rel", "as", "crossorigin"].map(of)).toEqual(["preload", "fetch", ""]);
    return of("href");
  });
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
