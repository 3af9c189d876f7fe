import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { afterSketch } from "./plotly";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("what takes long waits until the first map is painted, and runs once", () => {
  const run = vi.fn();
  afterSketch(run);
  dispatchEvent(new Event("explorer-sketched"));
  vi.advanceTimersByTime(25);
  expect(run).not.toHaveBeenCalled(); // the frame with the map comes first, and the next shows it
  vi.advanceTimersByTime(75);
  expect(run).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(5000);
  expect(run).toHaveBeenCalledOnce();
});

it("without a map it does not wait for ever", () => {
  const run = vi.fn();
  afterSketch(run);
  vi.advanceTimersByTime(1999);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledOnce();
});
