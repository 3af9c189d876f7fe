import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Here, Local } from "./here";

const called = vi.fn();
const closed = vi.fn();
let able = true;
let Made: typeof Here;
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("../live/client", async (original) => ({
    ...(await original<typeof import("../live/client")>()),
    canCompute: () => able,
    Client: class {
      constructor(
        private readonly worker: string,
        private readonly manifest: string,
      ) {}
      close() {
        closed(this.worker);
      }
      async call(name: string, given: object) {
        return called(name, given, this.worker, this.manifest);
      }
    },
  }));
  ({ Here: Made } = await import("./here"));
});
afterAll(() => {
  vi.doUnmock("../live/client");
  vi.resetModules();
});

const names = ["inspect", "exact", "resume", "npz", "offline", "left_out", "ready"] as const;
const server = Object.fromEntries(
  names.map((name) => [name, vi.fn(async () => ({ by: "server" }))]),
);
const local = vi.fn();
const notice = vi.fn();
const lent = (way: string, more: Partial<Local> = {}): Local => ({
  manifest: { files: [{ path: `weights/${way}.bin` }] },
  ...{ size: 30e6, worker: `worker.js?${way}`, shell: "shell.html" },
  ...more,
});

beforeEach(() => {
  able = true;
  for (const each of [called, closed, local, notice, ...Object.values(server)]) each.mockClear();
  called.mockImplementation(() => ({ by: "worker" }));
  local.mockImplementation(async ({ direction }: { direction: string }) => lent(direction));
  localStorage.clear();
  document.body.innerHTML = `<div id="source-text"><textarea>Guten Tag</textarea></div>
    <div id="direction">${["de-en", "en-zh", "third"]
      .map((way) => `<input type="radio" value="${way}">`)
      .join("")}</div>
    <div id="method"><input type="radio" value="automatic" checked></div>`;
  turn("de-en");
});
afterEach(() => void vi.useRealTimers());

const turn = (way: string) => {
  for (const radio of document.querySelectorAll<HTMLInputElement>("#direction input"))
    radio.checked = radio.value === way;
};
const settle = () => new Promise((done) => setTimeout(done));
const made = () => {
  const here = new Made({ ...server, local } as never, notice);
  document.body.append(here.row);
  return here;
};
const box = () => document.querySelector<HTMLInputElement>("#compute-here")!;
const tick = async (on = true) => {
  box().checked = on;
  box().dispatchEvent(new Event("change", { bubbles: true }));
  await settle();
};
const ask = (here: Here, more = {}) =>
  here.server.inspect({ text: "Tag", direction: "de-en", ...more } as never);

describe("while it is not chosen", () => {
  it("the server answers, and is asked nothing more", async () => {
    const here = made();
    expect(here.takes("de-en")).toBe(false);
    expect(await ask(here)).toEqual({ by: "server" });
    expect([local, called].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  });
  it("what was computed here before is still asked of this machine", async () => {
    const here = made();
    await tick();
    await tick(false);
    const asked = { text: "Tag", direction: "de-en", id: "live-3" };
    expect(await here.server.exact(asked as never)).toMatchObject({ by: "worker" });
    expect(server.exact).not.toHaveBeenCalled();
  });
});

describe("once it is chosen", () => {
  it("the weights are fetched, and the worker answers", async () => {
    const here = made();
    await tick();
    expect(called.mock.calls[0]!.slice(0, 3)).toEqual([
      "load",
      { direction: "de-en" },
      "worker.js?de-en",
    ]);
    expect(here.takes("de-en")).toBe(true);
    expect(await ask(here)).toEqual({ by: "worker" });
    expect(server.inspect).not.toHaveBeenCalled();
  });

  it("addresses in the manifest hold wherever the worker reads it", async () => {
    made();
    await tick();
    const manifest = decodeURIComponent(
      (called.mock.calls[0]![3] as string).split(",").slice(1).join(","),
    );
    const { path } = (JSON.parse(manifest) as { files: [{ path: string }] }).files[0];
    expect(path).toBe(new URL("weights/de-en.bin", document.baseURI).href);
  });

  it("it is so at the next visit too, until it is taken back", async () => {
    made();
    await tick();
    document.body.querySelector(".compute-here")!.remove();
    expect(made().takes("de-en")).toBe(true);
    await tick(false);
    document.body.querySelector(".compute-here")!.remove();
    expect(made().takes("de-en")).toBe(false);
  });

  it("what only a server works out is refused, and not asked of it", async () => {
    const here = made();
    await tick();
    const answer = await here.server.left_out!({ direction: "de-en" } as never);
    expect(answer).toMatchObject({ error: expect.stringContaining("Only the server") });
    expect(server.left_out).not.toHaveBeenCalled();
  });

  it("two workers are kept, and the one that waited longest goes", async () => {
    made();
    await tick();
    for (const way of ["en-zh", "third"]) {
      turn(way);
      await tick();
    }
    expect(closed.mock.calls).toEqual([["worker.js?de-en"]]);
  });
});

it("a checkpoint that no browser can compute stays with the server, and the line says so", async () => {
  local.mockImplementation(async ({ direction }) => lent(direction, { uncovered: "too wide" }));
  const here = made();
  await tick();
  expect(here.takes("de-en")).toBe(false);
  expect(here.row.textContent).toContain("cannot be computed in a browser");
  expect(await ask(here)).toEqual({ by: "server" });
});

it("a browser that cannot compute has nothing to choose", () => {
  able = false;
  localStorage.setItem("compute-here", "1");
  const here = made();
  expect([box().disabled, box().checked, here.takes("de-en")]).toEqual([true, false, false]);
  expect(here.row.textContent).toContain("no WebAssembly SIMD");
});

describe("a translation", () => {
  const trace = (seconds: number) => ({ kind: "trace", seconds, tgt: [1, 2, 3, 4] });
  it.each([
    [0.2, []],
    [0.8, [expect.stringContaining("200 ms a token")]],
  ])("of four tokens in %d s is told under its number", async (seconds, said) => {
    const here = made();
    await tick();
    called.mockImplementation((name) => (name === "stream" ? trace(seconds) : {}));
    const told: object[] = [];
    await here.translate(5, (message) => told.push(message));
    expect(called.mock.lastCall!.slice(0, 2)).toEqual([
      "stream",
      { direction: "de-en", text: "Guten Tag", settings: {} },
    ]);
    expect(told).toEqual([{ ...trace(seconds), run: 5 }]);
    expect(notice.mock.calls.map(([text]) => text)).toEqual(said);
  });
});
