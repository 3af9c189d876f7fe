import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isBusy, makeBusy } from "./busy";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  document.body.classList.remove("busy");
});

const made = (gone = false) => {
  const lost = vi.fn();
  const asked = vi.fn(async () => gone);
  return { lost, asked, busy: makeBusy(lost, asked) };
};

it("a page that nothing comes to any more gives up, once", async () => {
  const { lost, busy } = made();
  busy(true);
  expect(isBusy()).toBe(true);
  await vi.advanceTimersByTimeAsync(44_000);
  expect(lost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200_000);
  expect(lost).toHaveBeenCalledTimes(1);
  expect([isBusy(), vi.getTimerCount()]).toEqual([false, 0]);
});

it("every message gives it another while", async () => {
  const { lost, busy } = made();
  for (let each = 0; each < 5; each++) {
    busy(true);
    await vi.advanceTimersByTimeAsync(40_000);
  }
  expect(lost).not.toHaveBeenCalled();
});

it("a server that is gone is noticed at the next pulse", async () => {
  const { lost, busy } = made(true);
  busy(true);
  await vi.advanceTimersByTimeAsync(2900);
  expect(lost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(lost).toHaveBeenCalledTimes(1);
});

it("what is answered late about a former request ends no other", async () => {
  const lost = vi.fn();
  let answer: (gone: boolean) => void = () => undefined;
  const busy = makeBusy(lost, () => new Promise((done) => (answer = done)));
  busy(true);
  await vi.advanceTimersByTimeAsync(3000);
  busy(false);
  busy(true);
  answer(true);
  await vi.advanceTimersByTimeAsync(0);
  expect([lost.mock.calls.length, isBusy()]).toEqual([0, true]);
});

it("what is over asks nobody", async () => {
  const { asked, busy } = made();
  busy(true);
  busy(false);
  await vi.advanceTimersByTimeAsync(100_000);
  expect([asked.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});
