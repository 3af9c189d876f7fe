import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestContext } from "../../test/context";
import { makeSteps } from "./steps";

describe("the step control", () => {
  let x: TestContext;
  beforeEach(() => {
    vi.useFakeTimers();
    x = new TestContext();
    x.shows(makeSteps);
  });
  afterEach(() => {
    x.life.abort();
    vi.useRealTimers();
  });
  const press = (key: string) =>
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

  it("says the present step, what it reads and what it predicts", () => {
    const said = x.find(".stepout").textContent!;
    expect(said).toContain(`Step 2 of ${x.trace.tgt.length}`);
    for (const token of [x.trace.reads[1], x.trace.tgt[1]]) expect(said).toContain(token.s);
  });

  it("goes on and back by its buttons and by arrow keys, and never past an end", () => {
    x.find('[data-move="1"]').click();
    expect(x.state.step).toBe(2);
    press("ArrowLeft");
    expect(x.state.step).toBe(1);
    for (let i = 0; i < 5; i++) press("ArrowLeft");
    expect(x.state.step).toBe(0);
  });

  it("plays to the end and stops there", () => {
    x.find("[data-play]").click();
    expect(x.find("[data-play]").getAttribute("aria-label")).toBe("Pause");
    vi.advanceTimersByTime(60_000);
    expect(x.state.step).toBe(x.trace.tgt.length - 1);
    expect(x.state.playing).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves no timer when the explorer is taken away", () => {
    x.find("[data-play]").click();
    expect(vi.getTimerCount()).toBe(1);
    x.life.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});
