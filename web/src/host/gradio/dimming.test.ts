import { beforeEach, describe, expect, it } from "vitest";
import type { Explorer } from "../../tabs/explorer/explorer";
import { example } from "../../test/example";
import { dim } from "./dimming";

const trace = example();
const shows = (changes: object = {}) =>
  ({ trace: Object.assign(example(), changes) }) as unknown as Explorer;
const fields = (text: string, way: string) => {
  document.body.innerHTML = `<div id="source-text"><textarea></textarea></div>
    <div id="direction"><input type="radio" name="d" value="de-en"><input type="radio" name="d"
    value="en-zh"></div>`;
  document.querySelector("textarea")!.value = text;
  document.querySelector<HTMLInputElement>(`[value="${way}"]`)!.checked = true;
};
const dimmed = () =>
  ["other-text", "other-pair"].filter((c) => document.body.classList.contains(c));
beforeEach(() => void (document.body.className = ""));

describe("what is shown", () => {
  it.each([
    ["is not dimmed where the fields ask for it", trace.source, "de-en", false, []],
    ["is dimmed where the text differs", `${trace.source}!`, "de-en", false, ["other-text"]],
    ["and all of it where that was refused", "?", "de-en", true, ["other-text", "other-pair"]],
    [
      "and under another direction, even of the same text",
      trace.source,
      "en-zh",
      false,
      ["other-text", "other-pair"],
    ],
  ])("%s", (_, text, way, all, expected) => {
    fields(text, way);
    expect(dim(shows(), all)).toBe(way !== "de-en");
    expect(dimmed()).toEqual(expected);
  });

  it("is not dimmed while it is written, or before there is any", () => {
    fields("?", "en-zh");
    for (const x of [shows({ live: true }), {} as Explorer]) {
      expect(dim(x)).toBe(false);
      expect(dimmed()).toEqual([]);
    }
  });

  it("is bright again once the fields ask for it", () => {
    fields("?", "en-zh");
    dim(shows());
    fields(trace.source, "de-en");
    dim(shows());
    expect(dimmed()).toEqual([]);
  });
});
