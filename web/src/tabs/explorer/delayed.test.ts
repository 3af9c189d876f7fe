import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makeDelayed } from "./delayed";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const made = () => {
  const life = new AbortController();
  const painted: string[][] = [];
  const delayed = makeDelayed(life.signal, 50, (changed) => painted.push([...changed].sort()));
  return { life, painted, paint: (...names: string[]) => delayed.paint(new Set(names)) };
};

it("is painted once, a while after the first change, for all that has changed until then", () => {
  const { painted, paint } = made();
  paint("step");
  vi.advanceTimersByTime(40);
  paint("head", "step");
  expect(painted).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(painted).toEqual([["head", "step"]]);
  paint("kind");
  vi.advanceTimersByTime(50);
  expect(painted.slice(1)).toEqual([["kind"]]);
});

it("is not painted once its explorer was taken away", () => {
  const { life, painted, paint } = made();
  paint("step");
  life.abort();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(100);
  expect(painted).toEqual([]);
});
