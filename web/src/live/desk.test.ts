/* Calls to a worker's desk, with the checkpoint behind tests/protocol: what is answered, in which
   order, and what can be stopped. */

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import inspectSaid from "../../../tests/protocol/inspect.json";
import boardSaid from "../../../tests/protocol/lab_board.json";
import switchSaid from "../../../tests/protocol/lab_switch.json";
import traceSaid from "../../../tests/protocol/trace.json";
import { differences, without } from "../test/differences";
import { fixedBundle, fixedSite } from "../test/engine";
import type { Bundle } from "./bundle";
import type { Reply } from "./calls";
import { filesOf } from "./checkpoint";
import type { Desk as TheDesk } from "./desk";
import type { FileEntry, Fetching } from "./store";

const TEXT = traceSaid.source;
const SETTINGS = { method: "beam", beam: 2, max_length: 5, candidates: 3 };
const ASKED = { direction: "one", text: TEXT };
const SITE = fixedSite("one", "two", "three");

let bundle: Bundle;
const areKept = vi.fn<(files: readonly FileEntry[]) => Promise<boolean>>(async () => false);
const fetchCheckpoint = vi.fn<(name: string, how: Fetching) => Promise<Bundle>>();
let Desk: typeof TheDesk;
beforeAll(async () => {
  bundle = await fixedBundle();
  vi.resetModules();
  vi.doMock("./checkpoint", async (original) => ({
    ...(await original<object>()),
    fetchCheckpoint: (_: unknown, name: string, how: Fetching) => fetchCheckpoint(name, how),
  }));
  vi.doMock("./store", async (original) => ({ ...(await original<object>()), areKept }));
  ({ Desk } = await import("./desk"));
});
afterAll(() => {
  for (const path of ["./checkpoint", "./store"]) vi.doUnmock(path);
  vi.resetModules();
});

let replies: Reply[];
let desk: TheDesk;
beforeEach(() => {
  fetchCheckpoint.mockReset().mockImplementation(async () => bundle);
  replies = [];
  desk = new Desk(SITE, (reply) => replies.push(reply));
});
const of = (id: number) => replies.filter((reply) => reply.id === id);
const kinds = (id: number) => of(id).map(({ kind }) => kind);
/** The last that is said to a call. */
const said = async (...call: Parameters<TheDesk["call"]>) => {
  await desk.call(...call);
  return of(call[0]).at(-1)! as Reply & { value?: unknown; text?: string; again?: boolean };
};
const value = async (...call: Parameters<TheDesk["call"]>) => (await said(...call)).value;

describe("a call", () => {
  it("to recall a checkpoint reads it if all of it is kept, and fetches nothing else", async () => {
    expect(await said(1, "recall", { direction: "one" })).toMatchObject({ kind: "done" });
    expect(fetchCheckpoint).not.toHaveBeenCalled();
    areKept.mockResolvedValueOnce(true);
    await desk.call(2, "recall", { direction: "two" });
    await desk.call(3, "load", { direction: "two" });
    expect(fetchCheckpoint.mock.calls.map(([name]) => name)).toEqual(["two"]);
    expect(areKept).toHaveBeenLastCalledWith(filesOf(SITE, "two"));
    expect(await said(4, "recall", { direction: "none" })).toMatchObject({ kind: "done" });
  });

  it("to translate has a message for every step, and the trace at the end", async () => {
    const found = (await value(1, "stream", { ...ASKED, settings: SETTINGS })) as typeof traceSaid;
    const steps = of(1).slice(0, -1) as { kind: string; value: { index: number } }[];
    expect(steps.map(({ kind, value: { index } }) => [kind, index])).toEqual(
      steps.map((_, at) => ["step", at]),
    );
    expect(steps.length).toBeGreaterThanOrEqual(traceSaid.tgt.length);
    expect(kinds(1).at(-1)).toBe("done");
    const { direction, ...trace } = found as typeof found & { direction: string };
    expect(direction).toBe("one");
    expect(trace.translation).toBe(traceSaid.translation);
    expect(differences(trace.steps, traceSaid.steps)).toEqual([]);
  });

  it("to look at a text, at the lab's board and at heads off is answered as by the server", async () => {
    expect(differences(await value(1, "inspect", ASKED), inspectSaid)).toEqual([]);
    const [board, change] = [boardSaid, switchSaid].map((each) => without(each, "translation"));
    const gates = { cross: [[1, 0], [1, 1]] }; // prettier-ignore
    expect(differences(await value(2, "board", { ...ASKED, kind: "cross" }), board)).toEqual([]);
    expect(differences(await value(3, "switch", { ...ASKED, gates }), change)).toEqual([]);
    const edit = await value(4, "view", {
      ...ASKED,
      view: "edit",
      options: { step: 1, choice: "The" },
    });
    expect(JSON.stringify(edit)).toContain(boardSaid.translation);
  });

  it("for what a checkpoint has is answered", async () => {
    expect(await value(1, "load", ASKED)).toEqual({ bytes: bundle.model.bytes });
    expect(await value(2, "positions", ASKED)).toEqual({
      table: bundle.model.positions,
      width: 16,
    });
  });

  it("is worked on after those before it, whatever they came to", async () => {
    await Promise.all([
      desk.call(1, "stream", { ...ASKED, settings: {} }),
      desk.call(2, "load", { direction: "none" }),
      desk.call(3, "load", ASKED),
    ]);
    const ends = replies.filter(({ kind }) => kind !== "step" && kind !== "progress");
    expect(ends.map(({ id, kind }) => [id, kind])).toEqual([
      [1, "done"],
      [2, "refused"],
      [3, "done"],
    ]);
  });
});

describe("a translation that was made", () => {
  it("is had again by its id without a search, and else made again", async () => {
    const { id } = (await value(1, "stream", { ...ASKED, settings: SETTINGS })) as { id: string };
    const again = { ...ASKED, settings: { method: "greedy" }, encoding: "f32" as const };
    type Found = { encoding: string; settings: { method: string } };
    const exact = (await value(2, "exact", { ...again, id })) as Found;
    expect([exact.encoding, exact.settings.method]).toEqual(["f32", "beam"]);
    for (const [call, other] of [
      [3, { ...again, id: "live-99" }],
      [4, { ...again, id, text: "Ja." }],
      [5, again],
    ] as const)
      expect(((await value(call, "exact", other)) as Found).settings.method).toBe("greedy");
    const file = (await value(6, "npz", { ...again, id })) as Uint8Array;
    expect(String.fromCharCode(...file.subarray(0, 2))).toBe("PK"); // a ZIP archive
  });
});

describe("what was stopped", () => {
  it("before its turn does nothing", async () => {
    const first = desk.call(1, "load", ASKED);
    const second = desk.call(2, "stream", { ...ASKED, settings: {} });
    desk.cancel(2);
    await Promise.all([first, second]);
    expect([kinds(1), kinds(2)]).toEqual([["done"], ["cancelled"]]);
    expect(await said(3, "load", ASKED)).toMatchObject({ kind: "done" });
  });

  it("between two steps ends there, and gives the memory back", async () => {
    const before = bundle.model.heap.exports.mark();
    desk = new Desk(SITE, (reply) => {
      replies.push(reply);
      if (reply.kind === "step") desk.cancel(reply.id);
    });
    await desk.call(1, "stream", { ...ASKED, settings: { method: "greedy" } });
    expect(kinds(1)).toEqual(["step", "cancelled"]);
    expect(bundle.model.heap.exports.mark()).toBe(before);
  });

  it("while it is fetched is told so, and fetched anew when it is asked for again", async () => {
    fetchCheckpoint.mockImplementationOnce(
      (_, { signal }) =>
        new Promise((__, fail) => signal!.addEventListener("abort", () => fail(signal!.reason))),
    );
    const call = desk.call(1, "load", ASKED);
    await vi.waitFor(() => expect(fetchCheckpoint).toHaveBeenCalledTimes(1));
    desk.cancel(1);
    desk.cancel(99); // nobody's
    await call;
    expect(kinds(1)).toEqual(["cancelled"]);
    expect(await said(2, "load", ASKED)).toMatchObject({ kind: "done" });
  });
});

describe("checkpoints", () => {
  it("are fetched once, with their progress told of all their bytes", async () => {
    fetchCheckpoint.mockImplementationOnce(async (_, { progress }) => {
      progress!(10);
      return bundle;
    });
    await Promise.all([desk.call(1, "load", ASKED), desk.call(2, "load", ASKED)]);
    const { engine, checkpoints } = SITE;
    const size = [engine, ...Object.values(checkpoints.one)].reduce(
      (sum, each) => sum + each.size,
      0,
    );
    expect(of(1)[0]).toEqual({ id: 1, kind: "progress", received: 10, size });
    expect(fetchCheckpoint).toHaveBeenCalledTimes(1);
  });

  it("are two in memory: the one that was used longest ago goes", async () => {
    let id = 0;
    const names = ["one", "two", "one", "three", "one", "two"];
    for (const direction of names) await desk.call(++id, "load", { direction });
    expect(fetchCheckpoint.mock.calls.map(([name]) => name)).toEqual([
      "one",
      "two",
      "three",
      "two",
    ]);
  });
});

describe("what is refused", () => {
  it("is said in words; what a person can mend need not be asked again", async () => {
    expect(await said(1, "load", { direction: "fr-en" })).toEqual({
      ...{ id: 1, kind: "refused", again: false },
      text: "there is no direction 'fr-en'; there are one, two, three",
    });
    const blank = await said(2, "stream", { ...ASKED, text: " ", settings: {} });
    expect(blank).toMatchObject({ kind: "refused", again: false });
    expect(blank.text).toContain("the text is blank");
    expect((await said(3, "load", { direction: "constructor" })).kind).toBe("refused");
  });

  it("by the network or by a fault may be asked again", async () => {
    const { Lost } = await import("./store");
    fetchCheckpoint.mockRejectedValueOnce(new Lost("the connection was lost"));
    expect(await said(1, "load", ASKED)).toMatchObject({
      text: "the connection was lost",
      again: true,
    });
    const noted = vi.spyOn(console, "error").mockImplementation(() => undefined);
    fetchCheckpoint.mockRejectedValueOnce(new TypeError("odd"));
    expect(await said(2, "load", ASKED)).toMatchObject({
      ...{ text: "this page failed: TypeError: odd", again: true },
    });
    expect(noted).toHaveBeenCalledTimes(1);
    noted.mockRestore();
    expect(await said(3, "load", ASKED)).toMatchObject({ kind: "done" });
  });
});

it("a call does not wait for a port whose messages do not come, as in WebKit while the page draws", async () => {
  class Held {
    port1 = { onmessage: null };
    port2 = { postMessage: () => undefined };
  }
  vi.stubGlobal("MessageChannel", Held);
  vi.resetModules();
  const alone = new (await import("./desk")).Desk(SITE, (reply) => replies.push(reply));
  vi.unstubAllGlobals();
  await alone.call(1, "stream", { ...ASKED, settings: SETTINGS });
  expect(kinds(1).at(-1)).toBe("done");
});
