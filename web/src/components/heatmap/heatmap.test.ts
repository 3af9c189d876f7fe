import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { TestContext, blankCanvases } from "../../test/context";
import { makeHeatmap } from "./heatmap";

describe("the large map", () => {
  const react = vi.fn(async (node: Element) => void Object.assign(node, { on: () => undefined }));
  const sketched = (x: TestContext) => x.find("#attention-detail .sketch");
  const comes = () => {
    window.Plotly = { react } as never;
  };
  beforeAll(blankCanvases);
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    react.mockClear();
    delete window.Plotly;
  });
  const shown = () => {
    const x = new TestContext();
    x.shows(makeHeatmap);
    return x;
  };

  it("is seen before plotly.js has come", () => {
    const x = shown();
    const names = [...sketched(x).querySelectorAll("text")].map((node) => node.textContent);
    for (const { s } of x.trace.src.slice(0, -1)) expect(names).toContain(s);
  });

  it("is seen before plotly.js, whose first drawing takes long, draws it", () => {
    comes();
    const x = shown();
    expect(sketched(x)).not.toBeNull();
    expect(react).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(react).toHaveBeenCalledTimes(1);
    expect(sketched(x)).toBeNull();
  });

  it.each([0, 1])("is not drawn once it was taken away, %i frames later", (frames) => {
    comes();
    const x = shown();
    if (frames) vi.advanceTimersToNextFrame();
    x.life.abort();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(100);
    expect(react).not.toHaveBeenCalled();
  });

  it("of the other kinds waits out of sight until the page has nothing to translate", () => {
    comes();
    const x = shown();
    vi.advanceTimersByTime(100);
    x.changed.clear();
    const others = vi.spyOn(x, "as");
    document.body.classList.add("busy");
    vi.advanceTimersByTime(5000);
    expect(others).not.toHaveBeenCalled();
    document.body.classList.remove("busy");
    vi.advanceTimersByTime(5000);
    expect(others).toHaveBeenCalled();
  });
});
