import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makeAhead } from "./ahead";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("draws one thing after another once nothing has changed for a while", () => {
  let left = 3;
  const ahead = makeAhead(new AbortController().signal, () => --left > 0);
  ahead.rest(true);
  vi.advanceTimersByTime(200);
  ahead.rest(true); // something has changed
  vi.advanceTimersByTime(200);
  expect(left).toBe(3);
  vi.advanceTimersByTime(10_000);
  expect(left).toBe(0);
});

it("draws nothing after it was called off, or once the explorer is taken away", () => {
  const draw = vi.fn(() => true);
  const life = new AbortController();
  const ahead = makeAhead(life.signal, draw);
  ahead.rest(true);
  ahead.rest(false);
  ahead.rest(true);
  life.abort();
  vi.advanceTimersByTime(10_000);
  expect(draw).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
