import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Explorer } from "../../tabs/explorer/explorer";
import { blankCanvases } from "../../test/context";
import { payload } from "../../test/example";
import { mountOffline } from "./offline";

vi.setConfig({ testTimeout: 60_000 }); // all of it is painted

let x: Explorer;
beforeEach(() => {
  vi.useFakeTimers();
  blankCanvases();
  document.body.innerHTML = '<div id="page-chrome"></div><div id="explorer"></div>';
  window.__payload = payload();
});
afterEach(() => {
  x.destroy();
  vi.useRealTimers();
  delete window.__payload;
  history.replaceState(null, "", "/");
});

describe("an offline page", () => {
  it("shows the translation that it holds, at what its address names, and asks nobody", () => {
    const asked = vi.fn();
    vi.stubGlobal("fetch", asked);
    history.replaceState(null, "", `/#t=${encodeURIComponent(payload().source)}&k=encoder`);
    x = mountOffline();
    vi.advanceTimersByTime(100);
    const shown = document.querySelector<HTMLElement>("[data-shown]")!.dataset.shown!;
    expect(JSON.parse(shown)).toMatchObject({ source: payload().source, kind: "encoder" });
    expect(asked).not.toHaveBeenCalled();
    vi.unstubAllGlobals();
  });

  it("lets its language and its theme be chosen", () => {
    x = mountOffline();
    expect(document.querySelectorAll("#page-chrome button, #page-chrome select")).not.toHaveLength(
      0,
    );
  });
});
