import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import de from "../../../assets/locales/de.json";
import zh from "../../../assets/locales/zh.json";

const ROOT = path.resolve(import.meta.dirname, "../../..");

const files = (folder: string, endings: string[]): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .filter((name) => !name.includes(".test."))
    .map((name) => readFileSync(path.join(ROOT, folder, name), "utf8"));

/** Literals that stand behind each other are joined, and every hole is an empty one. */
const plain = (text: string, hole: RegExp): string =>
  text
    .replace(/"\s*\n\s*f?"/g, "")
    .replace(/\\"/g, '"')
    .replace(hole, "{}");
const HOLE = /\$\{[^{}]*\}|\{\w+\}/g; // in templates, and in the tables
const EXPRESSION = /\{[^{}"\n;]*\}/g; // in Python's f-strings

const SOURCES = [
  ...files("web/src", [".ts", ".html"]).map((text) => plain(text, HOLE)),
  ...files("translator", [".py"]).map((text) => plain(text, EXPRESSION)),
  ...files("assets", ["examples.json"]),
].join("\n");
const MARKUP = files("web/src", [".html"]).join("\n");
const holes = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].sort();
const tables = { zh, de } as Record<string, Record<string, string>>;

/** Sentences that the server puts together of parts, so that no search finds them whole: where. */
const COMPOSED: Record<string, string> = {
  "{name} is {value}, which is no single token of {model}: its pieces are {pieces}; choose one":
    "analysis/contrast.py",
  "what is 'pattern', which needs sentences that match token by token; the sentences have {first} and {second} tokens":
    "analysis/patching.py",
  "the table of en-zh": "positions_tab.py",
  "the table of de-en": "positions_tab.py",
  "relative entropy": "a measure of lab_views.py, without its underscore",
  "{name} is {value}; it must be a whole number from {low} to {high}": "questions.py",
  "{name} is missing; it must be a whole number from {low} to {high}": "questions.py",
  "{name} is {value}; it must be a number from {low} to {high}": "questions.py",
  "the number of {name} is {value}; it must be a whole number from {low} to {high}":
    "positions_tab.py",
  "no translation within {n} seconds: the translator is busy; try again in a few seconds, or send a shorter text":
    "gate.py and turns.py",
};

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

  it("hold what the markup says", () => {
    const said = [...MARKUP.matchAll(/data-(?:t|aria)="([^"]+)"/g)].map(([, text]) => text);
    expect(said.length).toBeGreaterThan(40);
    expect(said.filter((text) => !(text in zh))).toEqual([]);
  });

  it("hold no sentence that nobody says", () => {
    const unused = Object.keys(zh).filter(
      (english) => !(english in COMPOSED) && !SOURCES.includes(plain(english, HOLE)),
    );
    expect(unused).toEqual([]);
  });
});
