import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { blankCanvases } from "../test/context";
import { payload } from "../test/example";
import { mount } from "./mount";

vi.setConfig({ testTimeout: 60_000 }); // all of it is painted

describe("an explorer in any element", () => {
  beforeAll(() => {
    blankCanvases();
    for (const name of ["clientWidth", "clientHeight"])
      Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => 900 });
  });
  beforeEach(() => {
    vi.useFakeTimers();
    document.body.replaceChildren();
  });
  afterEach(() => void vi.useRealTimers());

  const place = () => document.body.appendChild(document.createElement("div"));
  const shown = (element: HTMLElement) =>
    JSON.parse(element.querySelector<HTMLElement>("[data-shown]")!.dataset.shown!);

  it("shows its translation, and tells what is picked", () => {
    const element = place();
    const onPick = vi.fn();
    const handle = mount(element, { trace: payload(), onPick });
    vi.advanceTimersByTime(100);
    expect(shown(element)).toMatchObject({ source: payload().source, live: false });
    handle.pick({ layer: 1, head: 2 });
    vi.advanceTimersByTime(100);
    expect(onPick).toHaveBeenLastCalledWith(expect.objectContaining({ layer: 1, head: 2 }));
    handle.destroy();
  });

  it("does not disturb another one on the page", () => {
    const [a, b] = [place(), place()];
    const handles = [mount(a, { trace: payload() }), mount(b, { trace: payload() })];
    vi.advanceTimersByTime(100);
    const before = shown(b);
    handles[0].pick({ kind: "encoder", query: 2 });
    vi.advanceTimersByTime(100);
    expect(shown(a)).toMatchObject({ kind: "encoder", query: 2 });
    expect(shown(b)).toEqual(before);
    for (const handle of handles) handle.destroy();
  });

  it("leaves no element and no timer behind", () => {
    const element = place();
    const handle = mount(element, { trace: payload() });
    vi.advanceTimersByTime(100);
    handle.pick({ step: 2 });
    handle.destroy();
    expect(element.childNodes).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
