import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** What ESLint does not read: its lines and its length are those of the scripts. */
const web = path.resolve(import.meta.dirname, "..");
const files = ["src", "engine"].flatMap((folder) =>
  readdirSync(path.join(web, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(css|html|c|h)$/.test(name))
    .map((name) => path.join(folder, name)),
);

describe("styles, markup and the engine", () => {
  it.each(files)("%s has lines of at most 100 columns, and at most 300 of them", (name) => {
    const lines = readFileSync(path.join(web, name), "utf8").trimEnd().split("\n");
    expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(300);
  });
});
