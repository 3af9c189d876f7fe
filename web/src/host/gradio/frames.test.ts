import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { endLoadingClock } from "./frames";

type Run = (time: number) => void;
let waiting: Map<number, Run>;
let number: number;
/** The browser draws one frame. */
const frame = () => {
  const now = [...waiting];
  waiting.clear();
  for (const [, run] of now) run(0);
};
const ask = (run: Run) => {
  waiting.set(++number, run);
  return number;
};
beforeEach(() => {
  [waiting, number] = [new Map(), 0];
  vi.stubGlobal("requestAnimationFrame", ask);
  vi.stubGlobal("cancelAnimationFrame", (id: number) => waiting.delete(id));
});
afterEach(() => vi.unstubAllGlobals());

/** What goes on for ever, and how often it has run; `by` is how it asks. */
const clock = (by: (run: Run) => void = ask) => {
  const told = { runs: 0 };
  const run = () => {
    told.runs++;
    by(run);
  };
  by(run);
  return told;
};

it("a clock that runs in every frame is ended, and nothing is looked at then", () => {
  const theirs = clock();
  endLoadingClock();
  for (let each = 0; each < 200; each++) frame();
  expect(theirs.runs).toBeLessThan(80);
  expect(waiting.size).toBe(0);
  expect(window.requestAnimationFrame).toBe(ask);
});

it("what our own scripts ask for goes on", () => {
  clock();
  endLoadingClock();
  const ours = clock((run) => window.requestAnimationFrame(run));
  for (let each = 0; each < 200; each++) frame();
  expect(ours.runs).toBe(200);
  expect(waiting.size).toBe(1);
});

it("what asks for a frame now and then is left alone", () => {
  let runs = 0;
  endLoadingClock();
  for (let each = 0; each < 1000; each++) {
    if (each % 3) ask(() => runs++);
    frame();
  }
  expect(runs).toBe(666);
  expect(waiting.size).toBe(0);
});
