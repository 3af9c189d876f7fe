import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KINDS } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import { example } from "../../test/example";
import { pack } from "../../live/messages/pack";
import type { Translation } from "../../trace/translation";
import { makeLater } from "./later";

const SOON = 600;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const shown = (server: Partial<ExplorerServer> | null, view = "heatmap", aggregate = "alti") => {
  const life = new AbortController();
  const notice = vi.fn();
  const marked = vi.fn();
  const state = { view, aggregate };
  const set = vi.fn((patch: object) => void Object.assign(state, patch));
  const x = { state, trace: example(), set, signal: life.signal, enter: vi.fn(), notice };
  Object.assign(x, { health: { marked } });
  const later = makeLater(x as never, server as ExplorerServer | null);
  const paint = (...names: string[]) => later.paint(new Set(names));
  const leave = (trace: Translation) => void (x.trace = trace);
  return { life, x, notice, marked, state, set, paint, leave };
};

describe("the marks of what may be left out", () => {
  const marks = { source: [0.5] } as never;

  it("are asked for once a translation was looked at for a while", async () => {
    const left_out = vi.fn(async () => marks);
    const { x, paint, marked, set } = shown({ left_out });
    paint("trace");
    vi.advanceTimersByTime(SOON - 1);
    paint("trace"); // another one: the time begins anew
    vi.advanceTimersByTime(SOON - 1);
    expect(left_out).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(left_out.mock.calls).toEqual([[expect.objectContaining({ text: x.trace.source })]]);
    expect([x.trace.marks, marked.mock.lastCall]).toEqual([marks, [x.trace]]);
    expect(set).toHaveBeenCalledWith({ marks: {} });
    paint("trace"); // it has them
    await vi.advanceTimersByTimeAsync(SOON);
    expect(left_out).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["is refused", async () => ({ error: "busy" })],
    ["fails", () => Promise.reject(new Error("gone"))],
  ])("are left away where the question %s", async (_, left_out) => {
    const { x, paint, set } = shown({ left_out } as never);
    paint("trace");
    await vi.advanceTimersByTimeAsync(SOON);
    expect([x.trace.marks, set.mock.calls]).toEqual([undefined, []]);
  });

  it("are not taken for those of another translation, nor asked for of none that is shown", async () => {
    let answer: (value: never) => void;
    const left_out = vi.fn(() => new Promise<never>((done) => (answer = done)));
    const { paint, leave, life, set, x } = shown({ left_out });
    paint("trace");
    await vi.advanceTimersByTimeAsync(SOON);
    leave(example());
    answer!(marks);
    await vi.advanceTimersByTimeAsync(0);
    expect([x.trace.marks, set.mock.calls]).toEqual([undefined, []]);
    paint("trace");
    life.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("contributions", () => {
  const answer = (trace: Translation) =>
    Object.fromEntries(KINDS.map((kind) => [kind, pack(trace.head(kind, 0, 0), "f32")]));

  it("are asked for once, when they are looked at", async () => {
    const alti = vi.fn(async () => answer(example()) as never);
    const { x, paint, state } = shown({ alti });
    paint("view");
    expect(alti).not.toHaveBeenCalled();
    state.view = "aggregate";
    paint("view");
    paint("aggregate");
    await vi.advanceTimersByTimeAsync(0);
    paint("view");
    expect(alti).toHaveBeenCalledTimes(1);
    for (const kind of KINDS)
      expect(x.trace.contributions![kind]).toEqual(x.trace.head(kind, 0, 0).slice());
  });

  it.each([
    ["nobody can be asked", {}, ""],
    ["it is refused", { alti: async () => ({ error: "busy" }) }, "busy"],
    ["nobody answers", { alti: () => Promise.reject(new Error()) }, "No answer from the server"],
  ])("give way to the mean of a layer where %s", async (_, server, said) => {
    const { paint, state, notice, x } = shown(server as never, "aggregate");
    paint("aggregate");
    await vi.advanceTimersByTimeAsync(0);
    expect([state.aggregate, x.trace.contributions]).toEqual(["layer-mean", undefined]);
    if (said) expect(notice).toHaveBeenCalledWith(expect.stringContaining(said), true);
    else expect(notice).not.toHaveBeenCalled();
  });

  it("of a translation that was left change nothing", async () => {
    let fail: (error: Error) => void;
    const alti = () => new Promise<never>((_, failed) => (fail = failed));
    const { paint, state, leave, notice } = shown({ alti }, "aggregate");
    paint("view");
    leave(example());
    fail!(new Error("gone"));
    await vi.advanceTimersByTimeAsync(0);
    expect([state.aggregate, notice.mock.calls]).toEqual(["alti", []]);
  });
});
