/* A notebook's cell with stand-ins for its kernel and for the explorer that the kernel brings. */

import { deflateSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ExplorerServer } from "../protocol/server";
import { without } from "../test/differences";
import type { Model } from "./notebook";

const packed = (value: string | Uint8Array) => {
  const bytes = new Uint8Array(deflateSync(value));
  return new DataView(bytes.buffer);
};
const json = (value: unknown) => packed(JSON.stringify(value));
const BYTES = Uint8Array.of(1, 2, 3, 250);
const MAPS = { encoder: packed(BYTES), decoder: packed(BYTES), cross: packed(BYTES) };
const FIRST = { kind: "cross", layer: 1, head: 2, step: 3, cell: null };

type Heard = (...values: unknown[]) => void;
/** A widget's model whose kernel answers a question with these buffers. */
const modelOf = (more: object = {}, answers: Record<string, DataView[]> = {}) => {
  const values: Record<string, unknown> = {
    ...{ ...FIRST, theme: "dark", language: "auto", _version: "1", _maps: [MAPS] },
    ...{ _traces: [json({ source: "Haus" })], _picture: packed("<svg/>"), _distances: json([4]) },
    ...more,
  };
  const heard = new Map<string, Set<Heard>>();
  const tell = (event: string, ...given: unknown[]) =>
    [...(heard.get(event) ?? [])].forEach((listener) => listener(...given));
  const asked: Record<string, unknown>[] = [];
  const model = {
    get: (name: string) => values[name],
    set: (name: string, value: unknown) => {
      values[name] = value;
      tell(`change:${name}`);
    },
    save_changes: vi.fn(),
    send: (question: { ask: string; number: string }) => {
      asked.push(question);
      const buffers = answers[question.ask];
      if (!buffers) throw new Error("no kernel");
      queueMicrotask(() => {
        tell("msg:custom", { answer: "another's" }, []);
        tell("msg:custom", { answer: question.number }, buffers);
      });
    },
    on: (event: string, listener: Heard) =>
      void heard.set(event, (heard.get(event) ?? new Set()).add(listener)),
    off: (event: string, listener: Heard) => void heard.get(event)?.delete(listener),
  };
  const listening = () => [...heard.values()].reduce((sum, each) => sum + each.size, 0);
  return { model: model as unknown as Model, values, asked, listening, saved: model.save_changes };
};

const handle = { pick: vi.fn(), destroy: vi.fn(), setTheme: vi.fn(), setLanguage: vi.fn() };
type Options = Record<string, unknown> & { onPick: (pick: object) => void; server: ExplorerServer };
type Mount = (element: Element, options: Options) => typeof handle;
const mount = vi.fn<Mount>(() => handle);
const mountComparison = vi.fn<Mount>(() => handle);
let render: typeof import("./notebook").render;
/** What ends each cell. */
const ends: (() => void)[] = [];
let el: HTMLElement;
beforeEach(async () => {
  const library = { embed: { mount, mountComparison }, tables: { de: { Head: "Kopf" } } };
  vi.stubGlobal("__attentionExplorers", new Map([["1", Promise.resolve(library)]]));
  vi.resetModules();
  const notebook = await import("./notebook");
  render = async (given) => {
    const end = await notebook.render(given);
    ends.push(end);
    return end;
  };
  for (const mock of [mount, mountComparison, ...Object.values(handle)]) mock.mockClear();
  el = document.body.appendChild(document.createElement("div"));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  vi.restoreAllMocks();
  el.remove();
  document.body.className = "";
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});
const options = (of = mount) => of.mock.lastCall![1];
const frame = () => new Promise((done) => requestAnimationFrame(done));

describe("a cell", () => {
  it("shows its trace with the maps that came beside it, as the widget's state says", async () => {
    await render({ model: modelOf().model, el });
    expect(mount.mock.lastCall![0]).toBe(el);
    expect(options()).toMatchObject({
      ...{ theme: "dark", language: undefined, tables: { de: { Head: "Kopf" } } },
      trace: { source: "Haus", weights: { encoder: BYTES, decoder: BYTES, cross: BYTES } },
    });
    expect(handle.pick.mock.calls).toEqual([[FIRST]]);
  });

  it("takes a long trace in parts, and asks the kernel for the others", async () => {
    const parts = { heads: [[0, 1, packed(BYTES)]], small: packed(BYTES), pool: 2 };
    const none = { heads: [] };
    const maps = { encoder: none, decoder: none, cross: parts };
    const { model, asked } = modelOf({ _maps: [maps] }, { maps: [packed(BYTES)] });
    await render({ model, el });
    expect(options().trace).toMatchObject({
      parts: { cross: { heads: [[0, 1, BYTES]], small: BYTES, pool: 2 }, encoder: { heads: [] } },
    });
    expect(await options().server.maps!("encoder", [[1, 1]])).toEqual(BYTES);
    expect(asked[0]).toMatchObject({ ask: "maps", trace: 0, kind: "encoder", places: [[1, 1]] });
  });

  it("compares two traces, with the kernel's distances", async () => {
    const two = { _traces: [json({ source: "a" }), json({ source: "b" })], _maps: [MAPS, MAPS] };
    await render({ model: modelOf(two).model, el });
    expect(options(mountComparison)).toMatchObject({
      ...{ traces: [{ source: "a" }, { source: "b" }], distances: [4] },
    });
    expect(handle.pick.mock.calls).toEqual([[without(FIRST, "cell")]]);
  });

  it("has files and exact weights from the kernel, and nothing of a page's server", async () => {
    const answers = { npz: [packed("PK")], exact: [json({ encoding: "f32" })] };
    const { model, listening } = modelOf({}, answers);
    await render({ model, el });
    const before = listening();
    const { server } = options();
    expect(await server.npz!({} as never)).toEqual({
      ...{ base64: btoa("PK"), type: "application/octet-stream" },
    });
    expect(await server.exact!({} as never)).toEqual({ encoding: "f32" });
    expect([server.unlinked, listening()]).toEqual([true, before]);
    await expect(server.inspect({} as never)).rejects.toThrow("nothing is typed here");
  });

  it("takes a kernel that says nothing for gone", async () => {
    const { model } = modelOf();
    await render({ model, el });
    vi.useFakeTimers();
    model.send = () => undefined;
    const failed = (options().server.exact!({} as never) as Promise<never>).catch(String);
    vi.advanceTimersByTime(20_000);
    vi.useRealTimers();
    expect(await failed).toContain("the kernel does not answer");
  });
});

describe("what is chosen", () => {
  it("in the cell is told to the kernel, once and only what is new", async () => {
    const { model, values, saved } = modelOf();
    await render({ model, el });
    options().onPick({ ...FIRST });
    expect(saved).not.toHaveBeenCalled();
    options().onPick({ ...FIRST, kind: "encoder", query: 5, cell: [5, 1] });
    expect(values).toMatchObject({ kind: "encoder", step: 5, cell: [5, 1], layer: 1 });
    expect(saved).toHaveBeenCalledTimes(1);
    await frame();
    expect(handle.pick).toHaveBeenCalledTimes(1); // it is shown already
  });

  it("by the kernel is shown, many changes at once", async () => {
    const { model, saved } = modelOf();
    await render({ model, el });
    model.set("kind", "encoder");
    model.set("step", 4);
    options().onPick({ ...FIRST }); // of what was shown before
    await frame();
    const seen = { kind: "encoder", layer: 1, head: 2, query: 4, cell: null };
    expect(handle.pick.mock.calls.slice(1)).toEqual([[seen]]);
    expect(saved).not.toHaveBeenCalled();
  });
});

describe("theme and language", () => {
  it.each([
    ["vscode-dark", "dark"],
    ["vscode-light", "light"],
    ["vscode-high-contrast", "dark"],
    ["vscode-high-contrast-light", "light"],
  ])("of a body of class %s are %s", async (name, theme) => {
    document.body.className = name;
    await render({ model: modelOf({ theme: "auto" }).model, el });
    expect(options().theme).toBe(theme);
  });

  it("follow JupyterLab, Colab, and what the widget is told", async () => {
    const { model } = modelOf({ theme: "auto", language: "de" });
    document.body.dataset.jpThemeLight = "false";
    await render({ model, el });
    expect(options()).toMatchObject({ theme: "dark", language: "de" });
    document.body.dataset.jpThemeLight = "true";
    await vi.waitFor(() => expect(handle.setTheme).toHaveBeenLastCalledWith("light"));
    handle.setTheme.mockClear();
    delete document.body.dataset.jpThemeLight;
    await vi.waitFor(() => expect(handle.setTheme).toHaveBeenCalled());
    document.documentElement.setAttribute("theme", "dark");
    await vi.waitFor(() => expect(handle.setTheme).toHaveBeenLastCalledWith("dark"));
    document.documentElement.removeAttribute("theme");
    model.set("theme", "light");
    expect(handle.setTheme).toHaveBeenLastCalledWith("light");
    model.set("language", "auto");
    expect(handle.setLanguage).toHaveBeenLastCalledWith(null);
  });
});

describe("the end", () => {
  it("leaves nobody listening", async () => {
    const { model, listening } = modelOf({ theme: "auto" });
    const end = await render({ model, el });
    expect(listening()).toBeGreaterThan(0);
    model.set("step", 4);
    end();
    document.body.className = "vscode-dark";
    await frame();
    expect(handle.setTheme).not.toHaveBeenCalled();
    expect([listening(), handle.destroy.mock.calls.length]).toEqual([0, 1]);
    expect(handle.pick).toHaveBeenCalledTimes(1);
  });

  it("without a kernel is the picture that was saved", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const made: Blob[] = [];
    vi.spyOn(URL, "createObjectURL").mockImplementation(
      (blob) => `blob:${made.push(blob as Blob)}`,
    );
    const { model, listening } = modelOf({ _version: "2" });
    const end = await render({ model, el });
    expect(el.querySelector("img")!.src).toBe("blob:1");
    expect(await made[0].text()).toBe("<svg/>");
    expect([warned.mock.calls.length, listening()]).toEqual([1, 0]);
    end();
    expect(el.dataset.lmSuppressShortcuts).toBe("true");
  });
});
