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
  const tokens = named(["attention", "norms", "all others"]);
  speakFigure(tokens, say);
  expect(tokens.layout.yaxis.ticktext).toEqual(["attention", "norms", "<all others>"]);
});
