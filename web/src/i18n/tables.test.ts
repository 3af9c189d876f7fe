import { describe, expect, it } from "vitest";
import de from "../../../assets/locales/de.json";
import zh from "../../../assets/locales/zh.json";
import { asked, faults, refused, tells, unsaid } from "../../lint/sentences";

const holes = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].sort();
const tables = { zh, de } as Record<string, Record<string, string>>;

describe("the tables", () => {
  it("hold the same sentences", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(de).sort());
  });

  it.each(Object.entries(tables))("%s: no sentence is empty or loses a hole", (_, table) => {
    const wrong = Object.entries(table).filter(
      ([english, own]) => !own.trim() || holes(own).some((hole) => !english.includes(hole)),
    );
    expect(wrong).toEqual([]);
  });

  it("hold what the markup says, and the scripts", () => {
    const all = asked();
    const of = (ending: string) => all.filter(({ file }) => file.endsWith(ending));
    expect(of(".html").length).toBeGreaterThan(40);
    expect(of(".ts").length).toBeGreaterThan(200);
    expect(all.filter(({ english }) => !(english in zh))).toEqual([]);
  });

  it("would not hold a sentence that nobody says", () => {
    const invented = "Nobody says this sentence";
    expect(unsaid({ "Copy link": "", [invented]: "" })).toEqual([invented]);
  });

  it("hold what the live page refuses", () => {
    const all = refused();
    expect(all.length).toBeGreaterThan(10);
    const untold = all.filter(({ english }) => !tells(zh, english));
    expect(untold).toEqual([]);
  });

  it("have no fault with which the build would fail", () => {
    expect(faults()).toEqual([]);
  });
});
