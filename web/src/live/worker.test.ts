/* A worker with stand-ins for its port and its desk. */

import { afterAll, beforeEach, expect, it, vi } from "vitest";
import type { Manifest } from "./checkpoint";

const SITE = "https://site.test/live/manifest.json";
const call = vi.fn(async () => undefined);
const cancel = vi.fn();
const opened = vi.fn();
const post = vi.fn();
const network = vi.fn<(address: string) => Promise<Response>>();
let reply: (message: object) => void;

class Desk {
  call = call;
  cancel = cancel;
  constructor(manifest: Manifest, answer: typeof reply) {
    opened(manifest);
    reply = answer;
  }
}
const hear = (data: object) =>
  (globalThis.onmessage as unknown as (event: object) => Promise<void>)({ data });
const asked = (id: number) => ({ id, name: "load", given: { direction: "x" }, site: SITE });

beforeEach(async () => {
  for (const mock of [call, cancel, opened, post]) mock.mockClear();
  const manifest = `{"engine": {"path": "engine.wasm"}, "other": {"path": "../a b.json"}}`;
  network.mockReset().mockImplementation(async () => new Response(manifest));
  vi.resetModules();
  vi.doMock("./desk", () => ({ Desk }));
  vi.stubGlobal("WorkerGlobalScope", class {});
  vi.stubGlobal("onmessage", null);
  vi.stubGlobal("postMessage", post);
  vi.stubGlobal("fetch", network);
  await import("./worker");
});
afterAll(() => {
  vi.doUnmock("./desk");
  vi.unstubAllGlobals();
  vi.resetModules();
});

it("takes calls to the desk of its site, whose files are found from anywhere", async () => {
  await Promise.all([hear(asked(1)), hear(asked(2))]);
  expect(network.mock.calls).toEqual([[SITE]]);
  expect(opened.mock.calls).toEqual([
    [
      {
        engine: { path: "https://site.test/live/engine.wasm" },
        other: { path: "https://site.test/a%20b.json" },
      },
    ],
  ]);
  expect(call.mock.calls).toEqual([1, 2].map((id) => [id, "load", { direction: "x" }]));
});

it("posts what the desk replies, and tells it what is not wanted any more", async () => {
  await hear({ cancel: 4 }); // nobody is there yet
  await hear(asked(1));
  reply({ id: 1, kind: "done", value: 3 });
  expect(post.mock.calls).toEqual([[{ id: 1, kind: "done", value: 3 }]]);
  await hear({ cancel: 1 });
  expect(cancel.mock.calls).toEqual([[1]]);
});

it("without its list of files says so, and asks for it with the next call", async () => {
  network.mockRejectedValueOnce(new TypeError("no network"));
  await hear(asked(1));
  expect(post.mock.lastCall![0]).toMatchObject({ id: 1, kind: "refused", again: true });
  expect(post.mock.lastCall![0].text).toContain("could not be loaded");
  await hear(asked(2));
  expect(call.mock.calls).toEqual([[2, "load", { direction: "x" }]]);
});

it("on a page, which is no worker, hears nothing", async () => {
  vi.resetModules();
  vi.unstubAllGlobals();
  vi.stubGlobal("onmessage", null);
  await import("./worker");
  expect(globalThis.onmessage).toBeNull();
});
