import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

/** The page's own modules, whatever other files have opened. */
let page: import("./main").AttentionExplorer;
let entry: typeof import("./host/gradio/entry").entry;

beforeAll(async () => {
  // what the page looks for again and again would go on in the tests of other files
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  vi.resetModules();
  document.body.innerHTML = `<div id="direction"><input type="radio" value="en-zh" checked></div>
    <div id="compare-direction-a"><input type="radio" value="de-en" checked></div>
    <div id="compare-direction-b"><input type="radio" value="en-zh" checked></div>`;
  await import("./main");
  ({ entry } = await import("./host/gradio/entry"));
  page = window.AttentionExplorer as typeof page;
});
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  Object.assign(entry, { run: null, opened: null, go: null, explorer: null });
});
afterAll(() => {
  delete (window as { AttentionExplorer?: unknown }).AttentionExplorer;
  vi.resetModules();
});

describe("what Gradio's events call", () => {
  it("begins a run with its number and the direction that is chosen", () => {
    entry.run = () => 7;
    expect(page.asked(null, "I run.", "of the server", "beam", 4)).toEqual([
      ...[7, "I run.", "en-zh", "beam", 4],
    ]);
  });

  it("gives each side of a comparison the direction of its own radios", () => {
    expect(page.compared("Das Haus", "?", "beam", "My house", "?", "greedy")).toEqual([
      ...["Das Haus", "de-en", "beam", "My house", "en-zh", "greedy"],
    ]);
  });

  it("opens once the explorer is there, however early the page asks", async () => {
    const fields = ["Das Haus", "de-en"] as unknown as Parameters<typeof page.opened>;
    const done = vi.fn();
    void page.opened(...fields).then(done);
    await vi.advanceTimersByTimeAsync(1000);
    expect(done).not.toHaveBeenCalled();
    entry.opened = (current) => current.toReversed() as typeof current;
    await vi.advanceTimersByTimeAsync(100);
    expect(done).toHaveBeenCalledWith(["de-en", "Das Haus"]);
  });

  it("begins what is to be shown first", async () => {
    entry.go = vi.fn(async () => {});
    await page.go();
    expect(entry.go).toHaveBeenCalledOnce();
  });

  it("has no arrays while no translation is whole", () => {
    expect(page.trace()).toBeNull();
  });
});
