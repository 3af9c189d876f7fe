import { describe, expect, it } from "vitest";
import { percent, percents, thousands } from "./numerals";

const speak = (language: string) =>
  Object.defineProperty(navigator, "language", { value: language, configurable: true });

describe("a share in percent", () => {
  it.each([
    ["en-GB", "86%"],
    ["zh-CN", "86%"],
    ["de-DE", "86\u202f%"],
  ])("%s: %s", (language, told) => {
    speak(language);
    expect(percent(0.857)).toBe(told);
    expect(percents("86%")).toBe(told);
  });
});

it("German keeps thousands and decimals apart, and a number on one line", () => {
  speak("de");
  expect(thousands("12,345 of 1.5")).toBe("12\u202f345 of 1.5");
  expect(percents("H3 86%, H5 100%")).toBe("H3 86\u202f%, H5 100\u202f%");
});
