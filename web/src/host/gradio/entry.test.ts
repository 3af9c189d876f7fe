import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { blankCanvases } from "../../test/context";
import { channel } from "../live/channel";

/** The page's own modules, whatever other files have opened. */
let entry: typeof import("./entry").entry;
let mountExplorer: typeof import("./explorer").mountExplorer;
beforeAll(async () => {
  // what an explorer looks for again and again would go on in the tests of other files
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  vi.resetModules();
  ({ entry } = await import("./entry"));
  ({ mountExplorer } = await import("./explorer"));
  blankCanvases();
  window.__explorerData = { ...{ examples: [], address: "", settings: [] }, directions: ["de-en"] };
  document.body.innerHTML = `<div id="source-text"><textarea></textarea></div>
    <div id="translation"><textarea></textarea></div>
    <div id="direction"><input type="radio" value="de-en" checked></div>
    <button id="translate">Translate</button><button id="stop">Stop</button>
    <div id="explorer"></div>`;
});
afterAll(() => {
  entry.explorer?.destroy();
  vi.useRealTimers();
  delete window.__explorerData;
  vi.resetModules();
});

describe("what Gradio's events find", () => {
  it("is nothing before there is an explorer, which the page then waits for", () => {
    expect(Object.values(entry)).toEqual([null, null, null, null]);
  });

  it("is that explorer and how it begins, once it is there", () => {
    const { props, watch } = channel();
    mountExplorer(document.querySelector("#explorer")!, props, watch, null);
    expect(document.querySelector("#explorer")!.contains(entry.explorer!.root)).toBe(true);
    expect(entry.run!()).toBeGreaterThanOrEqual(0);
    expect(entry.opened).toBeTypeOf("function");
  });
});
