import { gzipSync } from "fflate";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { bytesAt, fixedSite } from "../test/engine";
import type { FileEntry, Fetching } from "./store";

/** Files that a site has besides those of the repository. */
const own = new Map<string, Uint8Array>();
const usual = (file: FileEntry, how: Fetching) => {
  const bytes = own.get(file.path) ?? bytesAt(file.path);
  how.progress?.(bytes.length / 2);
  how.progress?.(bytes.length);
  return bytes;
};
const fetched = vi.fn<(...asked: Parameters<typeof usual>) => Uint8Array | Promise<Uint8Array>>();
const useChinese = vi.fn();
const useLanguages = vi.fn();
const useCasing = vi.fn();
let known: typeof import("./checkpoint");
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("./store", () => ({
    fetchFile: async (file: FileEntry, how: Fetching) => fetched(file, how),
    fetchInto: async (room: Promise<Uint8Array>, file: FileEntry, how: Fetching) => {
      const bytes = await fetched(file, how);
      (await room).set(bytes);
    },
  }));
  vi.doMock("./text/chinese", async (original) => ({
    ...(await original<object>()),
    ...{ useChinese, chineseIsKnown: () => useChinese.mock.calls.length > 0 },
  }));
  vi.doMock("./text/languages", async (original) => ({
    ...(await original<object>()),
    ...{ useLanguages, languagesAreKnown: () => useLanguages.mock.calls.length > 0 },
  }));
  vi.doMock("./text/casing", async (original) => ({ ...(await original<object>()), useCasing }));
  known = await import("./checkpoint");
});
afterAll(() => {
  for (const path of ["./store", "./text/casing", "./text/chinese", "./text/languages"])
    vi.doUnmock(path);
  vi.resetModules();
});
beforeEach(() => {
  for (const mock of [fetched, useCasing, useChinese, useLanguages]) mock.mockClear();
  fetched.mockImplementation(usual);
});

const json = (path: string, value: object, packed = false): FileEntry => {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  own.set(path, packed ? gzipSync(bytes) : bytes);
  return { path, size: own.get(path)!.length, sha256: "" };
};

describe("a checkpoint that is fetched", () => {
  it("is put together of all its files, each asked for once", async () => {
    const site = fixedSite("one");
    const bundle = await known.fetchCheckpoint(site, "one", {});
    expect(bundle.info).toMatchObject({ name: "fixed", src: "de", tgt: "en" });
    expect(bundle.model.heap.scoped(() => bundle.model.encode([5, 2]).length)).toBe(2);
    const paths = known.filesOf(site, "one").map(({ path }) => path);
    expect(fetched.mock.calls.map(([{ path }]) => path).sort()).toEqual([...paths].sort());
    expect(paths).toHaveLength(5);
  });

  it.each([true, false])("has the engine that suits the browser: %s", async (relaxed) => {
    const site = fixedSite("one");
    site.relaxed = { ...site.engine, path: "relaxed" };
    own.set("relaxed", bytesAt(site.engine.path));
    const validate = vi.spyOn(WebAssembly, "validate").mockReturnValue(relaxed);
    const [first] = known.filesOf(site, "one");
    await known.fetchCheckpoint(site, "one", {});
    validate.mockRestore();
    expect(first).toBe(relaxed ? site.relaxed : site.engine);
    expect(fetched.mock.calls.map(([{ path }]) => path === "relaxed")).toContain(relaxed);
    expect(fetched.mock.calls.some(([file]) => file === site.engine)).toBe(!relaxed);
  });

  it("tells the bytes of all files together, to the last", async () => {
    const site = fixedSite("one");
    const told: number[] = [];
    await known.fetchCheckpoint(site, "one", { progress: (bytes) => told.push(bytes) });
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(known.filesOf(site, "one").reduce((sum, { size }) => sum + size, 0));
  });

  it("hands the wish to stop to every download", async () => {
    const stopper = new AbortController();
    const reason = new Error("not wanted");
    fetched.mockImplementation((file, how) => {
      if (file.path === fixedSite("one").checkpoints.one.weights.path) stopper.abort(reason);
      return usual(file, how);
    });
    await known.fetchCheckpoint(fixedSite("one"), "one", { signal: stopper.signal });
    expect(fetched).toHaveBeenCalledTimes(5);
    for (const [, how] of fetched.mock.calls) expect(how.signal!.reason).toBe(reason);
    await known.fetchCheckpoint(fixedSite("one"), "one", { signal: stopper.signal });
    expect(fetched.mock.lastCall![1].signal!.reason).toBe(reason);
  });

  it("reads the vocabularies while the weights come", async () => {
    const site = fixedSite("one");
    const { src, tgt, weights } = site.checkpoints.one;
    const together = new Set([src, tgt, weights]);
    let allAsked: () => void;
    const asked = new Promise<void>((done) => (allAsked = done));
    fetched.mockImplementation(async (file, how) => {
      const waits = together.delete(file);
      if (!together.size) allAsked();
      if (waits) await asked; // one behind another would wait for ever
      return usual(file, how);
    });
    expect((await known.fetchCheckpoint(site, "one", {})).info.name).toBe("fixed");
  });

  it("does not go on with the rest where one file is missing", async () => {
    const site = fixedSite("one");
    const missing = new Error("404");
    fetched.mockImplementation((file, how) => {
      if (file === site.checkpoints.one.src) throw missing;
      return usual(file, how);
    });
    await expect(known.fetchCheckpoint(site, "one", {})).rejects.toBe(missing);
    for (const [, how] of fetched.mock.calls) expect(how.signal!.reason).toBe(missing);
  });

  it("brings profile and figures, and words and languages once a page", async () => {
    const site = fixedSite("one");
    Object.assign(site.checkpoints.one, {
      profile: json("profile", { rates: [1] }),
      figures: json("figures", { theme: 2 }),
      casing: json("casing", { language: "de", words: "Zug" }, true),
      chinese: json("chinese", { total: 3 }, true),
      languages: json("languages", { prior: [4] }, true),
    });
    const bundle = await known.fetchCheckpoint(site, "one", {});
    expect(bundle).toMatchObject({ profile: { rates: [1] }, figures: { theme: 2 } });
    expect(useCasing).toHaveBeenCalledWith({ language: "de", words: "Zug" });
    await known.fetchCheckpoint(site, "one", {});
    expect(useChinese.mock.calls).toEqual([[{ total: 3 }]]);
    expect(useLanguages.mock.calls).toEqual([[{ prior: [4] }]]);
  });
});
