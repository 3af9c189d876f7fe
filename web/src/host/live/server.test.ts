import { describe, expect, it, vi } from "vitest";
import { payload } from "../../test/example";
import { Refused, Stopped, type Caller } from "./client";
import { liveServer } from "./server";
import type { Weights } from "./weights";

/** A server whose worker answers as `answer` says, and whose weights are there. */
const made = (answer: (name: string, given: object, signal?: AbortSignal) => unknown) => {
  const call = vi.fn(async (name: string, given: object, how?: { signal?: AbortSignal }) =>
    answer(name, given, how?.signal),
  );
  const ready = vi.fn(async () => undefined);
  const underway = vi.fn(async () => undefined);
  const weights = { ready, underway } as unknown as Weights;
  const server = liveServer({ call } as unknown as Caller, weights, () => "shell.html");
  return { server, call, ready, underway };
};
const ASKED = { text: "Haus", direction: "de-en" };

describe("what a page asks of its own machine", () => {
  it("waits for weights that are on their way while a person types, and fetches none", async () => {
    const { server, call, ready, underway } = made(() => ({ words: 1 }));
    expect(await server.inspect(ASKED)).toEqual({ words: 1 });
    expect(ready).not.toHaveBeenCalled();
    underway.mockRejectedValueOnce(new Stopped());
    await expect(server.inspect(ASKED)).rejects.toBeInstanceOf(Stopped);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("goes on from a prefix, which the answer tells", async () => {
    const { server, call, ready } = made(() => ({ kind: "trace" }));
    const asked = { ...ASKED, settings: { method: "greedy" }, prefix: [4, 5], run: 3 };
    expect(await server.resume(asked)).toEqual({ kind: "trace", prefix: [4, 5] });
    expect(ready).toHaveBeenCalledWith("de-en");
    const { text, direction, settings, prefix } = asked;
    const given = { text, direction, settings, prefix };
    expect(call).toHaveBeenCalledExactlyOnceWith("stream", given);
  });

  it.each([
    [new Refused("too long", false), { error: "too long", again: false }],
    [new Refused("try again", true), { error: "try again", again: true }],
    [new Error("broken"), { error: "broken", again: false }],
    [new Stopped(), { error: "", again: true }],
  ])("is told of %s in words", async (error, told) => {
    const { server } = made(() => {
      throw error;
    });
    expect(await server.exact(ASKED)).toEqual(told);
    expect(await server.lab_ask({ ...ASKED, view: "beams" })).toEqual(told);
  });

  it("stops the run that it names, and no other", async () => {
    const signals: AbortSignal[] = [];
    const { server } = made((_, __, signal) => {
      signals.push(signal!);
      return new Promise((done, fail) => {
        signal!.addEventListener("abort", () => fail(new Stopped()));
        setTimeout(() => done({ rows: [] }), 20);
      });
    });
    const boards = [1, 2].map((run) => server.lab_board({ ...ASKED, run, kind: "cross" }));
    await Promise.resolve();
    await server.lab_stop({ ...ASKED, run: 1 });
    expect(await Promise.all(boards)).toEqual([{ error: "", again: true }, { rows: [] }]);
    expect(await server.lab_stop({ ...ASKED, run: 2 })).toEqual({});
  });

  it("gives a file in base64", async () => {
    const { server } = made(() => Uint8Array.from([80, 75, 255]));
    expect(await server.npz(ASKED)).toEqual({
      base64: Buffer.from([80, 75, 255]).toString("base64"),
      type: "application/octet-stream",
    });
  });

  it("gives the offline page of what was asked", async () => {
    const { server } = made(() => payload());
    vi.stubGlobal("fetch", async (address: string) => new Response(`<p>${address} @@src@@`));
    const { base64, type } = (await server.offline(ASKED)) as { base64: string; type: string };
    vi.unstubAllGlobals();
    expect([type, atob(base64)]).toEqual(["text/html", "<p>shell.html de"]);
  });

  it("is there", async () => {
    const { server } = made(() => undefined);
    expect([await server.gone(), await server.ready()]).toEqual([false, { state: "ready" }]);
  });
});
