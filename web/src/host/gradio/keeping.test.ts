import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Explorer } from "../../tabs/explorer/explorer";
import { TestContext } from "../../test/context";
import { fragment, typedSince } from "../../state/kept";
import { makeKeeping } from "./keeping";

let x: TestContext;
beforeEach(() => {
  vi.useFakeTimers();
  x = new TestContext();
  document.body.insertAdjacentHTML(
    "beforeend",
    '<div id="source-text"><textarea></textarea></div>',
  );
  document.querySelector<HTMLTextAreaElement>("#source-text textarea")!.value = x.trace.source;
  history.replaceState(null, "", "/");
});
afterEach(() => {
  vi.useRealTimers();
  history.replaceState(null, "", "/");
});
const explorer = () => x as unknown as Explorer;
const kept = () => new URLSearchParams(fragment().slice(1));

it("many choices are written once, after the last of them", () => {
  const written = vi.spyOn(history, "replaceState");
  const { soon } = makeKeeping(explorer(), () => true);
  for (let step = 0; step < 3; step++) {
    x.state.step = step;
    soon();
    vi.advanceTimersByTime(200);
  }
  expect(written).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(written).toHaveBeenCalledTimes(1);
  expect(kept().get("t")).toBe(x.trace.source);
  written.mockRestore();
});

it("is written at once where the page goes, with what was typed since", () => {
  const { now } = makeKeeping(explorer(), () => true);
  now();
  expect([kept().get("t"), typedSince()]).toEqual([x.trace.source, ""]);
  document.querySelector<HTMLTextAreaElement>("#source-text textarea")!.value = "Ich";
  now();
  expect([kept().get("t"), typedSince()]).toEqual([x.trace.source, "Ich"]);
});

it("nothing is kept while the fields are not what is shown", () => {
  const { now, soon } = makeKeeping(explorer(), () => false);
  now();
  soon();
  vi.advanceTimersByTime(1000);
  expect(fragment()).toBe("");
});
