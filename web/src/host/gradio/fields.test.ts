import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fillNow, keepFilled } from "./fields";

const mounted = (): HTMLTextAreaElement => {
  document.body.innerHTML = `<div id="translation"><textarea></textarea></div>`;
  return document.querySelector("textarea")!;
};

describe("a field that is kept filled", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    document.body.innerHTML = "";
  });
  afterEach(() => vi.useRealTimers());

  it("is filled where it is mounted only afterwards, and where it is mounted anew", () => {
    let ready = false;
    keepFilled("translation", "Good morning.", "en", () => ready);
    vi.advanceTimersByTime(5000);
    const area = mounted();
    vi.advanceTimersByTime(200);
    expect([area.value, area.lang]).toEqual(["Good morning.", "en"]);
    ready = true;
    const again = mounted();
    vi.advanceTimersByTime(200);
    expect(again.value).toBe("Good morning.");
  });

  it("is left alone once the page is ready and it has held", () => {
    const area = mounted();
    keepFilled("translation", "Good morning.", "en", () => true);
    vi.advanceTimersByTime(2000);
    expect(vi.getTimerCount()).toBe(0);
    area.value = "";
    vi.advanceTimersByTime(2000);
    expect(area.value).toBe("");
  });

  it("gives way to what is wanted next", () => {
    const area = mounted();
    keepFilled("translation", "Good morning.", "en", () => false);
    fillNow("translation", "Good");
    vi.advanceTimersByTime(2000);
    expect(area.value).toBe("Good");
  });
});
