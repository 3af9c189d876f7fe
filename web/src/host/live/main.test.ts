import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { paintedWhole } from "../../test/context";
import { payload } from "../../test/example";

paintedWhole();

const TRACE = payload();
const VIEW = { name: "force", title: "Force a translation", says: "", source: "", fields: [] };
/** The script of plotly.js is a stand-in's: it counts as loaded. */
const { settings } = (window as unknown as { happyDOM: { settings: Record<string, boolean> } })
  .happyDOM;
const asked: string[] = [];
/** Whether the page stood there as the answer came. */
const dressed: boolean[] = [];
/** What the page says to its worker, which answers nothing. */
const posted: { name: string; given: Record<string, unknown>; site: string }[] = [];
const scripts: URL[] = [];
/** What it looks for among what is kept. */
const kept: string[] = [];
/** Service workers, and whether the first map was there. */
const registered: [string, boolean][] = [];
let sketched = false;
addEventListener("explorer-sketched", () => (sketched = true));

/** The whole page, opened once, by the address that is given. */
beforeAll(async () => {
  vi.resetModules();
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(address);
    await new Promise((done) => setTimeout(done, 10));
    dressed.push(!!document.querySelector("#explorer"));
    return { ok: true, status: 200, json: async () => payload() };
  });
  vi.stubGlobal(
    "Worker",
    class extends EventTarget {
      constructor(script: URL) {
        super();
        scripts.push(script);
      }
      postMessage(message: (typeof posted)[number]) {
        posted.push(message);
      }
      terminate() {}
    },
  );
  const has = async (name: string) => kept.push(name) > 0;
  vi.stubGlobal("caches", { has });
  const register = async (address: string) => registered.push([address, sketched]);
  Object.defineProperty(navigator, "serviceWorker", { value: { register }, configurable: true });
  window.__explorerData = {
    ...{ address: "examples/", settings: [], directions: ["de-en"], plotly: "plotly.js" },
    examples: [{ id: "de-en-in-den", direction: "de-en", text: TRACE.source, name: "in den" }],
    lab: [{ name: "matter", title: "matter", views: [VIEW] }],
    site: {
      ...{ version: "v7", citation: "@software{x}" },
      offers: [{ direction: "de-en", label: "German → English", size: 3e7 }],
    },
  };
  history.replaceState(null, "", "/");
  settings.handleDisabledFileLoadingAsSuccess = true;
  await import("./main");
  const all = () => {
    expect(shown()).toBe(TRACE.source);
    // what comes after the first look
    expect(document.querySelector("#compare-run")).not.toBeNull();
    expect(document.querySelector("#lab")!.textContent).toContain(VIEW.title);
  };
  await vi.waitFor(all, { timeout: 30_000 });
});
afterAll(() => {
  delete (navigator as { serviceWorker?: unknown }).serviceWorker;
  settings.handleDisabledFileLoadingAsSuccess = false;
  vi.unstubAllGlobals();
  vi.resetModules();
  delete window.__explorerData;
  history.replaceState(null, "", "/");
});
const shown = () =>
  (window.AttentionExplorer as { trace(): { source: string } | null }).trace()?.source;
const text = () => document.querySelector<HTMLTextAreaElement>("#source-text textarea")!;

describe("a page without a server", () => {
  it("has what was kept of its model read again, and else starts no worker", () => {
    expect(posted.splice(0)).toMatchObject([{ name: "recall", given: { direction: "de-en" } }]);
    expect(kept).toEqual(["attention-explorer-weights"]);
  });

  it("keeps itself for a visit without a network, once the first map has been there", async () => {
    expect(registered).toEqual([]);
    await vi.waitFor(() => expect(registered).toEqual([["sw.js?v=v7", true]]), 5000);
  });

  it("opens with the stored example of its direction", () => {
    expect(asked).toContain("examples/de-en-in-den.json");
    expect(dressed[asked.indexOf("examples/de-en-in-den.json")]).toBe(false); // drawn with it
    expect(text().value).toBe(TRACE.source);
  });

  it("offers the directions of its site, and has a tab for each part", () => {
    const ways = [...document.querySelectorAll<HTMLInputElement>("#direction input")];
    expect(ways.map(({ value, checked }) => [value, checked])).toEqual([["de-en", true]]);
    expect(document.querySelectorAll("#tabs [role=tab]").length).toBeGreaterThanOrEqual(4);
    expect(document.querySelector("#about a")!.getAttribute("href")).toContain("de-en/README.md");
  });

  it("translates by a worker of its own version, which is told where the weights are", async () => {
    document.querySelector<HTMLElement>("#translate")!.click();
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    expect(posted[0]).toMatchObject({ name: "load", given: { direction: "de-en" } });
    expect([scripts.map(String), posted[0]!.site].flat()).toEqual([
      new URL("worker.js?v=v7", document.baseURI).href,
      new URL("manifest.json?v=v7", document.baseURI).href,
    ]);
  });

  it("asks nobody but its own folder", () => {
    for (const address of asked)
      expect(new URL(address, location.href).origin).toBe(location.origin);
  });
});
