/* The service worker with a stand-in for the browser: its own scope, its cache and the network. */

import { afterAll, beforeEach, expect, it, vi } from "vitest";

type Heard = (event: object) => void;
const ORIGIN = "https://site.test/";
const MINE = "attention-explorer-page-7";
const listeners = new Map<string, Heard>();
const stores = new Map<string, Map<string, Response>>();
const claim = vi.fn(async () => undefined);
const skipWaiting = vi.fn(async () => undefined);
const network = vi.fn<(request: string | Request) => Promise<Response>>();

const keyOf = (request: string | Request) =>
  new URL(typeof request === "string" ? request : request.url, ORIGIN).href;
const opened = (name: string) => {
  const held = stores.get(name) ?? new Map<string, Response>();
  stores.set(name, held);
  return {
    addAll: async (files: string[]) => {
      for (const file of files) held.set(keyOf(file), new Response(`kept ${file}`));
    },
    match: async (request: Request) => held.get(keyOf(request))?.clone(),
    put: async (request: Request, answer: Response) => void held.set(keyOf(request), answer),
  };
};

beforeEach(async () => {
  vi.resetModules();
  for (const map of [listeners, stores]) map.clear();
  for (const mock of [claim, skipWaiting, network]) mock.mockClear();
  network.mockImplementation(async (request) => new Response(`fresh ${keyOf(request)}`));
  vi.stubGlobal("location", new URL(`${ORIGIN}sw.js?v=7`));
  vi.stubGlobal("addEventListener", (name: string, heard: Heard) => listeners.set(name, heard));
  vi.stubGlobal("skipWaiting", skipWaiting);
  vi.stubGlobal("clients", { claim });
  vi.stubGlobal("fetch", network);
  vi.stubGlobal("caches", {
    open: async (name: string) => opened(name),
    keys: async () => [...stores.keys()],
    delete: async (name: string) => stores.delete(name),
  });
  await vi.importActual("./sw"); // no module: it exports nothing
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const begin = async (name: "install" | "activate") => {
  let work: Promise<unknown> | undefined;
  listeners.get(name)!({ waitUntil: (given: Promise<unknown>) => (work = given) });
  await work;
};
const asked = (url: string, more: object = {}) =>
  ({ url: new URL(url, ORIGIN).href, method: "GET", mode: "cors", ...more }) as unknown as Request;
/** What is answered to a request, as text; undefined: it is left to the browser. */
const ask = async (request: Request): Promise<string | undefined> => {
  let answer: Promise<Response> | undefined;
  listeners.get("fetch")!({ request, respondWith: (given: Promise<Response>) => (answer = given) });
  return answer && (await answer).text();
};
const offline = () => network.mockRejectedValue(new TypeError("no network"));
const installed = async () => {
  network.mockResolvedValueOnce(new Response(JSON.stringify(["./", "page.js"])));
  await begin("install");
};

it("keeps what opening the page takes, and serves at once", async () => {
  await installed();
  expect(network.mock.calls).toEqual([["shell.json", { cache: "no-store" }]]);
  expect([...stores.get(MINE)!.keys()]).toEqual([ORIGIN, `${ORIGIN}page.js`]);
  expect(skipWaiting).toHaveBeenCalledTimes(1);
});

it("leaves nothing of other versions, and nothing else alone", async () => {
  for (const name of ["attention-explorer-page-6", "attention-explorer-weights", "other"])
    opened(name);
  await installed();
  await begin("activate");
  expect([...stores.keys()]).toEqual(["attention-explorer-weights", "other", MINE]);
  expect(claim).toHaveBeenCalledTimes(1);
});

it("gives what is kept without asking the network, and keeps what is new", async () => {
  await installed();
  network.mockClear();
  expect(await ask(asked("page.js"))).toBe("kept page.js");
  expect(network).not.toHaveBeenCalled();
  expect(await ask(asked("new.js"))).toBe(`fresh ${ORIGIN}new.js`);
  offline();
  expect(await ask(asked("new.js"))).toBe(`fresh ${ORIGIN}new.js`);
});

it("does not keep what did not come whole", async () => {
  network.mockResolvedValueOnce(new Response("gone", { status: 404 }));
  await ask(asked("lost.js"));
  network.mockResolvedValueOnce(new Response("part", { status: 206 }));
  await ask(asked("part.js"));
  expect([...stores.get(MINE)!.keys()]).toEqual([]);
});

it("gives the page itself from the network, and without one as it was kept", async () => {
  await installed();
  const page = asked("?direction=de-en&text=Haus", { mode: "navigate" });
  expect(await ask(page)).toBe(`fresh ${page.url}`);
  expect(stores.get(MINE)!.size).toBe(2); // no copy under that address
  offline();
  expect(await ask(page)).toBe("kept ./");
  await expect(ask(asked("unknown.js"))).rejects.toThrow("no network");
});

it.each([
  ["what is sent", asked("page.js", { method: "POST" })],
  ["another site", asked("https://other.test/page.js")],
  ["a checkpoint's file", asked("checkpoints/de-en/model.safetensors")],
  ["kept weights", asked("weights/abc/0")],
])("leaves %s to the browser", async (_, request) => {
  expect(await ask(request)).toBeUndefined();
  expect(network).not.toHaveBeenCalled();
});
