import { describe, expect, it } from "vitest";
import { labLink, readLabLink } from "./lab-link";

const asked = {
  view: "patch",
  options: {
    other: "Ich laufe & gehe.",
    step: 3,
    word: null,
    patches: [["encoder", "ffn", 1, null, 2]],
  },
  text: "Ich laufe #1 in den Park.",
  target: [4, 0, 2],
  direction: "de-en",
};

describe("a link to the lab", () => {
  it("brings the question back", () => {
    const { word, ...options } = asked.options;
    expect(word).toBeNull();
    expect(readLabLink(new URL(labLink(asked)).hash)).toEqual({ ...asked, options });
  });

  it("of what the model says itself names no tokens", () => {
    const link = readLabLink(new URL(labLink({ ...asked, target: null })).hash)!;
    expect(link.target).toBeNull();
  });

  it.each(["[1]", "null", "{", "7"])("with options %s has none", (options) => {
    const hash = "#" + new URLSearchParams({ lab: "why", t: "x", o: options, y: "1.x" }).toString();
    expect(readLabLink(hash)).toMatchObject({ options: {}, target: null });
  });

  it("without a view or a text is none", () => {
    expect(readLabLink("#t=x")).toBeNull();
    expect(readLabLink("#lab=why")).toBeNull();
  });
});
