import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ExplorerServer } from "../../protocol/server";
import { TestContext, blankCanvases } from "../../test/context";
import { makeExports } from "./export";

interface Saved {
  name: string;
  blob: Blob;
}

describe("the exports", () => {
  let saved: Saved[];
  let x: TestContext;
  beforeEach(() => {
    localStorage.clear();
    blankCanvases();
    vi.useFakeTimers();
    saved = [];
    const blobs = new Map<string, Blob>();
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
      blobs.set(`blob:${blobs.size}`, blob as Blob);
      return `blob:${blobs.size - 1}`;
    });
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      saved.push({ name: this.download, blob: blobs.get(this.href)! });
    });
  });
  afterEach(() => {
    x.life.abort();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const shown = (server: Partial<ExplorerServer> | null = null) => {
    x = new TestContext();
    const arcs = () => document.createElementNS("http://www.w3.org/2000/svg", "svg");
    makeExports(x, { server: server as ExplorerServer | null, arcs }).paint();
  };
  const press = (what: string) => x.find(`[data-export="${what}"]`).click();
  const figure = (value: string) => (x.find<HTMLSelectElement>(".what").value = value);
  const said = () => x.find(".export .said").textContent;
  const file = () => vi.waitUntil(() => saved[0]);

  it("offer without a server only what a page can make by itself", () => {
    shown();
    const hidden = () =>
      [...x.root.querySelectorAll<HTMLElement>("[data-export]")]
        .filter((node) => node.hidden)
        .map((node) => node.dataset.export);
    expect(hidden()).toEqual(["npz", "html", "link"]);
    shown({});
    expect(hidden()).toEqual([]);
    shown({ unlinked: true });
    expect(hidden()).toEqual(["link"]);
  });

  it("name the model and its size", () => {
    shown();
    const { layers, heads } = x.trace.maps.cross;
    const line = x.find(".export .model").textContent;
    expect(line).toContain(x.trace.checkpoint.name);
    expect(line).toContain(`${layers} layers × ${heads} heads`);
  });

  it("draw the candidates with sentence and translation below, or without", async () => {
    shown();
    figure("candidates");
    press("svg");
    const { name, blob } = await file();
    expect(name).toBe(`attention-${x.trace.checkpoint.name}-candidates-2.svg`);
    const svg = await blob.text();
    expect(svg).toContain(x.trace.tgt[1].s);
    expect(svg).toContain("SHA-256 " + x.trace.checkpoint.sha256.slice(0, 12));
    await vi.waitUntil(() => said() === "Saved");
    saved.length = 0;
    x.find(".paper-caption").click();
    press("svg");
    expect(await (await file()).blob.text()).not.toContain("SHA-256");
  });

  it("draw as wide as was asked for, and remember it for the next visit", async () => {
    shown();
    const width = x.find<HTMLSelectElement>(".paper-width");
    width.value = "85";
    width.dispatchEvent(new Event("change"));
    figure("candidates");
    press("svg");
    expect(await (await file()).blob.text()).toContain('width="85mm"');
    shown();
    expect(x.find<HTMLSelectElement>(".paper-width").value).toBe("85");
  });

  it("write a table of candidates", async () => {
    shown();
    figure("candidates");
    press("csv");
    const { name, blob } = await file();
    expect(name).toBe(`attention-${x.trace.checkpoint.name}-candidates.csv`);
    expect(blob.type).toBe("text/csv");
    for (const { s } of x.trace.steps[0].c.slice(0, 2)) expect(await blob.text()).toContain(s);
  });

  it("write what the server gives, and say why it gives nothing", async () => {
    const npz = vi.fn(() => Promise.resolve({ base64: btoa("PK"), type: "application/zip" }));
    const offline = vi.fn(() => Promise.resolve({ error: "busy" }));
    shown({ npz, offline });
    press("npz");
    const { name, blob } = await file();
    expect(name).toBe(`attention-${x.trace.checkpoint.name}.npz`);
    expect(await blob.text()).toBe("PK");
    expect(npz).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ text: x.trace.source }));
    press("html");
    await vi.waitUntil(() => said() === "Not saved: busy");
    expect(saved).toHaveLength(1);
    expect(x.root.querySelector("[data-export][aria-busy]")).toBeNull();
  });

  it("tell an outcome for a while, and leave no timer when the explorer is taken away", async () => {
    shown();
    press("json"); // exact weights, which a page without a server does not have
    await vi.waitUntil(() => said() === "Not saved: the server is needed for this");
    vi.advanceTimersByTime(4000);
    expect(said()).toBe("");
    press("json");
    await vi.waitUntil(() => said() !== "");
    x.life.abort();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("show the same in Python", () => {
    shown();
    const dialog = x.find<HTMLDialogElement>(".snippet");
    press("python");
    expect(dialog.open).toBe(true);
    expect(dialog.querySelector("pre")!.textContent).toContain(JSON.stringify(x.trace.source));
    x.find(".snippet [data-close]").click();
    expect(dialog.open).toBe(false);
  });

  it("fold their sheet by Escape and by a click elsewhere, while the explorer lives", () => {
    shown();
    const details = x.find<HTMLDetailsElement>(".paper");
    details.open = true;
    document.body.click();
    expect(details.open).toBe(false);
    details.open = true;
    details.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    expect(details.open).toBe(false);
    details.open = true;
    x.life.abort();
    document.body.click();
    expect(details.open).toBe(true);
  });

  it("do nothing while the translation is being written", () => {
    shown();
    Object.assign(x.trace, { live: true });
    press("csv");
    press("python");
    expect(saved).toEqual([]);
    expect(x.find<HTMLDialogElement>(".snippet").open).toBe(false);
  });
});
