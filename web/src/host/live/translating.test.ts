import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Refused, Stopped, type Caller, type Listening } from "./client";
import { translateHere } from "./translating";
import type { Weights } from "./weights";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WANTED = { run: 7, direction: "de-en", text: "Haus", settings: {} };
const run = (
  call: (name: string, given: object, how: Listening) => Promise<object>,
  ready: () => Promise<void> = async () => undefined,
) => {
  const sent: object[] = [];
  const { signal } = new AbortController();
  const answer = translateHere(
    { call } as unknown as Caller,
    { ready } as unknown as Weights,
    WANTED,
    signal,
    (message) => sent.push(message),
    () => `${sent.length} MB`,
  );
  return { sent, answer };
};

it("steps and the end are told under the run's number, and the end is the answer", async () => {
  const { sent, answer } = run(async (name, given, { step }) => {
    expect([name, given]).toEqual(["stream", { direction: "de-en", text: "Haus", settings: {} }]);
    for (let index = 0; index < 8; index++) {
      step!({ kind: "step", index } as never);
      await vi.advanceTimersByTimeAsync(120);
    }
    return { kind: "trace" };
  });
  expect(await answer).toEqual({ kind: "trace" });
  expect(sent).toEqual([
    // the newest after 400 ms each
    { kind: "step", index: 3, run: 7 },
    { kind: "step", index: 7, run: 7 },
    { kind: "trace", run: 7 },
  ]);
});

it("the newest step is not told behind the end", async () => {
  const { sent, answer } = run(async (_, given, { step }) => {
    step!({ kind: "step", index: 0 } as never);
    return { kind: "trace" };
  });
  await answer;
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).toEqual([{ kind: "trace", run: 7 }]);
});

it("what is waited for is told once a second, until it is here", async () => {
  let come = () => {};
  const { sent, answer } = run(
    () => new Promise((done) => setTimeout(done, 3000, { kind: "trace" })),
    () => new Promise((done) => (come = done)),
  );
  await vi.advanceTimersByTimeAsync(2100);
  expect(sent).toEqual([
    { kind: "waiting", run: 7, text: "0 MB" },
    { kind: "waiting", run: 7, text: "1 MB" },
  ]);
  come();
  await vi.advanceTimersByTimeAsync(2900);
  expect(sent).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(200);
  await answer;
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).toHaveLength(3);
});

it.each([
  [new Refused("too long", false), "too long"],
  [new Stopped(), "Stopped."],
])("%s is told as the end", async (error, text) => {
  const { sent, answer } = run(async () => Promise.reject(error));
  expect(await answer).toBeUndefined();
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).toEqual([{ kind: "error", run: 7, text }]);
});
