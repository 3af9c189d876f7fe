/* The tables of sentences against the sources: what a source asks for has an entry, and each entry
   is said by one. */

import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
const LOCALES = "assets/locales";

const files = (folder, endings) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .filter((name) => !name.includes(".test."))
    .map((name) => ({
      file: path.posix.join(folder, name.replaceAll(path.sep, "/")),
      text: readFileSync(path.join(ROOT, folder, name), "utf8"),
    }));

/** Literals that stand behind each other are joined, and every hole is an empty one. */
const plain = (text, hole) =>
  text
    .replace(/"\s*\n\s*f?"/g, "")
    .replace(/\\"/g, '"')
    .replace(hole, "{}");
const HOLE = /\$\{[^{}]*\}|\{\w+\}/g; // in templates, and in the tables
const EXPRESSION = /\{[^{}"\n;]*\}/g; // in Python's f-strings

/** Sentences that the server puts together of parts, so that no search finds them whole: where. */
const COMPOSED = {
  "{name} is {value}, which is no single token of {model}: its pieces are {pieces}; choose one":
    "analysis/contrast.py",
  "what is 'pattern', which needs sentences that match token by token; the sentences have {first} and {second} tokens":
    "analysis/patching.py",
  "the table of en-zh": "positions_tab.py",
  "the table of de-en": "positions_tab.py",
  "relative entropy": "a measure of lab_views.py, without its underscore",
  "{name} is {value}; it must be a whole number from {low} to {high}": "registry/field.py",
  "{name} is missing; it must be a whole number from {low} to {high}": "registry/field.py",
  "{name} is {value}; it must be a number from {low} to {high}": "registry/field.py",
  "{name} is missing; it must be a number from {low} to {high}": "registry/field.py",
  "{name} is {value}; it must be one of {known}": "registry/field.py",
  "{path} is of other weights; run the command {command} again": "index.py and others",
  "the number of {name} is {value}; it must be a whole number from {low} to {high}":
    "positions_tab.py",
  "no translation within {n} seconds: the translator is busy; try again in a few seconds, or send a shorter text":
    "gate.py and turns.py",
};

/**
 * What a source says: in TypeScript as an argument of `t` or `tParts`, in markup as an attribute.
 */
const ASKED = {
  ".ts": /\bt(?:Parts)?\(\s*"((?:[^"\\]|\\.)*)"/g,
  ".html": /\bdata-(?:t|aria)="([^"]+)"/g,
};

const REFUSED = /new (?:Refusal|NoDimension)\(\s*([`"])((?:\\.|(?!\1).)*)\1/gs;

/** The tables by their files. */
const tables = () =>
  files(LOCALES, [".json"]).map(({ file, text }) => ({ file, table: JSON.parse(text) }));

/** All that may say a sentence, as one text. */
const said = () =>
  [
    ...files("web/src", [".ts", ".html"]).map(({ text }) => plain(text, HOLE)),
    ...files("translator", [".py"]).map(({ text }) => plain(text, EXPRESSION)),
    ...files("assets", ["examples.json"]).map(({ text }) => text),
  ].join("\n");

/** The sentences of a table that no source says. */
export const unsaid = (table, sources = said()) =>
  Object.keys(table).filter(
    (english) => !(english in COMPOSED) && !sources.includes(plain(english, HOLE)),
  );

/** The sentences that sources of the front end ask for, each with the file that does. */
export const asked = () =>
  Object.entries(ASKED).flatMap(([ending, pattern]) =>
    files("web/src", [ending]).flatMap(({ file, text }) =>
      [...text.matchAll(pattern)].map(([, english]) => ({
        file,
        english: english.replace(/\\(["\\])/g, "$1"),
      })),
    ),
  );

/**
 * Refusals of settings that no form has, and of a checkpoint that the exporter would not have
 * published.
 */
const UNPROVOKED = ["check.ts", "bundle.ts", "decode/", "engine/", "text/"];

/** What the live page's own server refuses, its holes empty, each with the file that does. */
export const refused = () =>
  files("web/src", [".ts"])
    .filter(({ file }) => !UNPROVOKED.some((each) => file.startsWith(`web/src/live/${each}`)))
    .flatMap(({ file, text }) =>
      [...text.matchAll(REFUSED)].map(([, , english]) => ({
        file,
        english: plain(english, HOLE).replaceAll("'{}'", "{}"),
      })),
    );

/** Whether a table has a sentence that begins so, whatever the names of its holes. */
export const tells = (table, english) =>
  Object.keys(table).some((each) => plain(each, HOLE).startsWith(english));

/** What is wrong with the tables, each fault with the sentence that it is about. */
export const faults = () => {
  const wanted = asked();
  const all = tables();
  // Looked for once: the tables hold the same sentences.
  const silent = new Set(unsaid(Object.assign({}, ...all.map(({ table }) => table))));
  return all.flatMap(({ file, table }) => [
    ...Object.keys(COMPOSED)
      .filter((english) => !Object.hasOwn(table, english))
      .map((english) => `${file}: no entry for “${english}”, which COMPOSED names`),
    ...Object.keys(table)
      .filter((english) => silent.has(english))
      .map((english) => `${file}: no source says “${english}”`),
    ...wanted
      .filter(({ english }) => !Object.hasOwn(table, english))
      .map((each) => `${file}: no entry for “${each.english}”, which ${each.file} asks for`),
  ]);
};
