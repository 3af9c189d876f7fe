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
  vi.advanceTimersByTime(11);
  expect(painted).toEqual([["head", "step"]]);
  paint("kind");
  vi.advanceTimersByTime(51);
  expect(painted.slice(1)).toEqual([["kind"]]);
});

it("lets what came meanwhile be heard before it is painted", () => {
  const { painted, paint } = made();
  paint("step");
  const heard = vi.fn(() => expect(painted).toEqual([]));
  setTimeout(heard, 50);
  vi.advanceTimersByTime(60);
  expect(heard).toHaveBeenCalledOnce();
  expect(painted).toHaveLength(1);
});

it("is not painted once its explorer was taken away", () => {
  const { life, painted, paint } = made();
  paint("step");
  life.abort();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(100);
  expect(painted).toEqual([]);
});
