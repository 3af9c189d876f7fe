import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { followTab } from "./tab-link";

let opened: string[];
beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  document.body.innerHTML = `<div id="tabs">${["explorer", "lesson", "compare", "positions"]
    .map((name) => `<button data-tab-id="${name}-tab">${name}</button>`)
    .join("")}</div>`;
  for (const each of document.querySelectorAll<HTMLElement>("button"))
    each.addEventListener("click", () => opened.push(each.dataset.tabId!));
});
afterEach(() => {
  vi.useRealTimers();
  history.replaceState(null, "", "/");
});

describe("a link to what stands in another tab", () => {
  it.each([
    ["#lesson=6", "lesson-tab", '<div class="lx"></div>'],
    ["#positions=1&n=12", "positions-tab", '<button id="position-link"></button>'],
  ])("%s opens %s, until it is built", async (hash, tab, built) => {
    history.replaceState(null, "", hash);
    followTab();
    expect(opened).toEqual([tab]);
    await vi.advanceTimersByTimeAsync(250);
    expect(opened.length).toBeGreaterThan(1);
    document.body.insertAdjacentHTML("beforeend", built);
    await vi.advanceTimersByTimeAsync(100);
    const before = opened.length;
    await vi.advanceTimersByTimeAsync(5000);
    expect(opened).toHaveLength(before);
    expect(new Set(opened)).toEqual(new Set([tab]));
  });

  it("is given up where the tab is never built", async () => {
    history.replaceState(null, "", "#positions=1");
    followTab();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([opened.length <= 101, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it("that is none opens nothing", async () => {
    history.replaceState(null, "", "#t=Haus&d=de-en");
    followTab();
    expect([opened, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
