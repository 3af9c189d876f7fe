import { expect, it } from "vitest";
import { speakFigure } from "./figure";

const named = (names: string[], meta?: object) => ({
  data: [],
  layout: { yaxis: { ticktext: names }, ...(meta ? { meta } : {}) },
});
const say = (english: string) => `<${english}>`;

it("says names of our own in the page's language, and leaves a sentence's tokens as they are", () => {
  const methods = named(["attention norms", "ALTI+"], { spoken: true });
  speakFigure(methods, say);
  expect(methods.layout.yaxis.ticktext).toEqual(["<attention norms>", "<ALTI+>"]);
  const parts = {
    data: [{ customdata: [["L1", "self H2"]] }, { customdata: ["word embedding"] }],
    layout: {
      meta: { spoken: true },
      xaxis: { ticktext: ["self H1", "feed-forward"] },
      yaxis: { ticktext: ["L1", "decoder L3 cross H5"] },
    },
  };
  speakFigure(parts, say);
  expect(parts.layout.xaxis.ticktext).toEqual(["<self> H1", "<feed-forward>"]);
  expect(parts.layout.yaxis.ticktext).toEqual(["L1", "<decoder> L3 <cross> H5"]);
  expect(parts.data.map(({ customdata }) => customdata)).toEqual([
    [["L1", "<self> H2"]],
    ["<word embedding>"],
  ]);
  const tokens = named(["attention", "norms", "all others"]);
  speakFigure(tokens, say);
  expect(tokens.layout.yaxis.ticktext).toEqual(["attention", "norms", "<all others>"]);
});
