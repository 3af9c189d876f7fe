import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { showEquation } from "./equation";

const KATEX = '<span class="katex-display">first</span><span class="katex-display">second</span>';
let box: HTMLElement;
let drawn: HTMLElement;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<div id="lesson-equations"></div><div class="equation"></div>';
  drawn = document.querySelector("#lesson-equations")!;
  box = document.querySelector(".equation")!;
});
afterEach(() => {
  vi.restoreAllMocks(); // first: what was spied on is a timer that is no real one
  vi.useRealTimers();
});

it("a station has a copy of its own equation", () => {
  drawn.innerHTML = KATEX;
  const later = vi.spyOn(globalThis, "setTimeout");
  showEquation(box, 1, () => true);
  expect(box.textContent).toBe("second");
  expect(drawn.textContent).toBe("firstsecond");
  expect(later).not.toHaveBeenCalled();
});

it("an equation that is drawn later comes, unless the station was left", () => {
  let place = 0;
  showEquation(box, 0, () => place === 0);
  vi.advanceTimersByTime(500);
  expect(box.textContent).toBe("");
  drawn.innerHTML = KATEX;
  vi.advanceTimersByTime(100);
  expect(box.textContent).toBe("first");
  drawn.replaceChildren();
  showEquation(box, 0, () => place === 0);
  place = 1;
  drawn.innerHTML = KATEX;
  vi.advanceTimersByTime(500);
  expect(box.textContent).toBe("");
});

it("an equation that is never drawn is not waited for without end", () => {
  const asked = vi.spyOn(document, "querySelectorAll");
  const looks = () => asked.mock.calls.filter(([selector]) => /katex/.test(selector)).length;
  showEquation(box, 0, () => true);
  vi.advanceTimersByTime(60_000);
  const before = looks();
  expect(before).toBeGreaterThan(50);
  vi.advanceTimersByTime(60_000);
  expect(looks()).toBe(before);
});
