import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { paintedWhole } from "../test/context";
import type { ExplorerServer } from "../protocol/server";
import { example, payload } from "../test/example";
import { inParts, packedMaps } from "../test/parts";
import { mount } from "./mount";

paintedWhole();

describe("an explorer in any element", () => {
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

  describe("of which some maps came along", () => {
    const whole = example();
    const { layer, head } = whole.leading;
    const other = (head + 1) % whole.maps.cross.heads;
    const begun = (maps: ExplorerServer["maps"]) => {
      const element = place();
      const onPick = vi.fn();
      const trace = inParts(whole, [layer, head]);
      const handle = mount(element, { trace, onPick, server: { maps } as ExplorerServer });
      vi.advanceTimersByTime(100);
      return { element, handle, onPick };
    };

    it("asks for a map when it is looked at, and shows what is chosen once it is there", async () => {
      const maps = vi.fn<NonNullable<ExplorerServer["maps"]>>(async (kind, places) =>
        packedMaps(whole, kind, places),
      );
      const { element, handle, onPick } = begun(maps);
      expect(shown(element)).toMatchObject({ kind: "cross", layer, head });
      expect(maps).not.toHaveBeenCalled();
      handle.pick({ kind: "encoder", head: other, cell: [2, 1] });
      handle.pick({ step: 2 }); // which map is shown does not depend on it
      vi.advanceTimersByTime(100);
      expect(shown(element)).toMatchObject({ kind: "cross", head, step: 2 });
      expect(element.querySelector("[aria-busy=true]")).not.toBeNull();
      expect(onPick).not.toHaveBeenCalledWith(expect.objectContaining({ step: 2 }));
      await vi.advanceTimersByTimeAsync(100);
      expect(maps.mock.calls).toEqual([["encoder", [[layer, other]]]]);
      expect(shown(element)).toMatchObject({ kind: "encoder", head: other, query: 2 });
      expect(onPick).toHaveBeenLastCalledWith(
        expect.objectContaining({ kind: "encoder", head: other, cell: [2, 1] }),
      );
      expect(element.querySelector("[aria-busy=true]")).toBeNull();
      handle.destroy();
    });

    it("stays as it is where nobody answers, and tells what is shown", async () => {
      const { element, handle, onPick } = begun(() => Promise.reject(new Error("gone")));
      handle.pick({ head: other });
      await vi.advanceTimersByTimeAsync(100);
      expect(shown(element)).toMatchObject({ head });
      expect(element.textContent).toContain("No answer from the server");
      expect(onPick).toHaveBeenLastCalledWith(expect.objectContaining({ head }));
      handle.destroy();
    });
  });
});
