import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { endLoadingClock } from "./frames";

type Run = (time: number) => void;
let waiting: Map<number, Run>;
let number: number;
const ask = (run: Run) => {
  waiting.set(++number, run);
  return number;
};
const { now } = performance;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "queueMicrotask"] });
  [waiting, number] = [new Map(), 0];
  vi.stubGlobal("requestAnimationFrame", ask);
  vi.stubGlobal("cancelAnimationFrame", (id: number) => waiting.delete(id));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  performance.now = now;
});

/** What goes on for ever, and how often it has run. */
const goesOn = (): { runs: number } => {
  const mine = { runs: 0 };
  const run = () => {
    mine.runs++;
    performance.now();
    ask(run);
  };
  ask(run);
  return mine;
};

/** The same in Gradio's module. */
const clock = new Function(
  "ask",
  `const mine = { runs: 0 }, run = () => { mine.runs++; performance.now(); ask(run); };
  ask(run);
  return mine; //# sourceURL=http://127.0.0.1/assets/statustracker-DQF-KcRT.js`,
) as (by: typeof ask) => { runs: number };

const frames = (count: number): void => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 2; // in a browser nothing else is on a frame's stack
  for (let each = 0; each < count; each++) {
    for (const [id, run] of [...waiting]) {
      waiting.delete(id);
      run(0);
      vi.runAllTicks();
    }
  }
  Error.stackTraceLimit = stackTraceLimit;
};

it("all of its clocks are ended, and nothing is looked at then", () => {
  const [first, second] = [clock(ask), clock(ask)];
  endLoadingClock();
  frames(20);
  expect([first.runs, second.runs]).toEqual([1, 1]);
  expect(waiting.size).toBe(0);
  vi.advanceTimersByTime(9000);
  const late = clock(ask); // of a slow page
  frames(20);
  expect(late.runs).toBe(1);
  vi.advanceTimersByTime(10_000);
  expect(performance.now).toBe(now);
});

it("whoever else asks for every frame goes on", () => {
  const [before, theirs] = [goesOn(), clock(ask)];
  endLoadingClock();
  const after = goesOn();
  frames(200);
  expect([before.runs, theirs.runs, after.runs]).toEqual([200, 1, 200]);
});

it("Gradio may ask for the time elsewhere", () => {
  const other = goesOn();
  endLoadingClock();
  const asks = new Function(
    "return performance.now(); //# sourceURL=http://127.0.0.1/assets/statustracker-DQF-KcRT.js",
  ) as () => number;
  expect(asks()).toBeGreaterThan(0);
  frames(5);
  expect(other.runs).toBe(5);
  expect(performance.now).not.toBe(now);
});

it("a page without that clock is watched for ten seconds, and while nobody sees it", () => {
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  endLoadingClock();
  vi.advanceTimersByTime(30_000);
  expect(performance.now).not.toBe(now);
  hidden.mockRestore();
  vi.advanceTimersByTime(10_000);
  expect(performance.now).toBe(now);
});

it("tells the time to whoever has put another clock in its place", () => {
  endLoadingClock();
  const { now: told } = performance;
  vi.stubGlobal("performance", { now: () => told() });
  expect(performance.now()).toBeGreaterThan(0);
});

it("ends it by the browser's own functions, where others have come into their place", () => {
  endLoadingClock();
  const others = vi.fn();
  vi.stubGlobal("requestAnimationFrame", others);
  vi.stubGlobal("cancelAnimationFrame", others);
  const mine = clock(ask);
  frames(5);
  expect(mine.runs).toBeLessThan(3);
  expect(others).not.toHaveBeenCalled();
});

it("takes no timer for a frame, where one row numbers both", () => {
  const timers = new Set<number>();
  vi.stubGlobal("setTimeout", () => {
    timers.add(++number);
    return number;
  });
  const cancelled: number[] = [];
  vi.stubGlobal("cancelAnimationFrame", (id: number) => {
    cancelled.push(id);
    waiting.delete(id);
  });
  endLoadingClock();
  const mine = clock(ask);
  frames(5);
  expect(mine.runs).toBe(1);
  expect(cancelled.filter((id) => timers.has(id))).toEqual([]);
});
