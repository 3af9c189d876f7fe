import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ChineseFile } from "./chinese";

/** A module of this file's own: what is cut by a dictionary is cut by it for good. */
let chinese: typeof import("./chinese");
beforeAll(async () => {
  vi.resetModules();
  chinese = await import("./chinese");
});
afterAll(() => vi.resetModules());

const COUNTS: Record<string, number> = {
  甲: 9,
  乙: 5,
  丙: 1,
  甲乙: 7,
  乙丙: 8,
  甲乙丙: 1,
  丁丁: 2,
};
const TOTAL = Object.values(COUNTS).reduce((sum, count) => sum + count);
const STATES = [..."BMES"];
const FOLLOWS: Record<string, string> = { B: "ME", M: "ME", E: "BS", S: "BS" };
const SURE = -1e-3;

const file = (more: Partial<ChineseFile> = {}): ChineseFile => ({
  total: TOTAL,
  words: Object.entries(COUNTS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => `${word} ${count}`)
    .join("\n"),
  // what is no word is cut into characters
  start: { B: -1e6, M: -1e6, E: -1e6, S: SURE },
  trans: { B: {}, M: {}, E: {}, S: { S: SURE } },
  emit: Object.fromEntries(STATES.map((state) => [state, {}])),
  simple: { 漢: "汉", 頭髮: "头发", 髮: "發", 發: "发" },
  ...more,
});

/** Every way to cut a run. */
const ways = (run: string): string[][] =>
  run
    ? [...run].flatMap((_, at) =>
        ways(run.slice(at + 1)).map((rest) => [run.slice(0, at + 1), ...rest]),
      )
    : [[]];
const worth = (words: string[]) =>
  words.reduce((sum, word) => sum + Math.log((COUNTS[word] ?? 1) / TOTAL), 0);
const allowed = (words: string[]) => words.every((word) => word.length === 1 || COUNTS[word]);

describe("a run of Chinese", () => {
  it("is its characters while there is no dictionary", () => {
    expect(chinese.chineseIsKnown()).toBe(false);
    expect(chinese.chineseWords("甲乙")).toEqual(["甲", "乙"]);
    expect(chinese.simplified("漢")).toBe("漢");
  });

  it("is cut in the most probable way of all", () => {
    chinese.useChinese(file());
    expect(chinese.chineseIsKnown()).toBe(true);
    const runs = ["甲乙", "乙丙", "甲乙丙", "丙甲乙丙甲", "丁丁甲丁", "甲甲乙乙丙丙", "乙丙丁"];
    for (const run of runs) {
      const best = Math.max(...ways(run).filter(allowed).map(worth));
      const found = chinese.chineseWords(run);
      expect(found.join("")).toBe(run);
      expect(allowed(found), run).toBe(true);
      expect(worth(found), run).toBeCloseTo(best, 9);
    }
  });

  it("that no dictionary has is cut by the likeliest of all rows of states", () => {
    let seed = 1;
    const draw = () => -(seed = (seed * 16807) % 2147483647) / 2147483647;
    const emit = Object.fromEntries(
      STATES.map((state) => [state, Object.fromEntries([..."戊己庚"].map((c) => [c, 5 * draw()]))]),
    );
    const trans = Object.fromEntries(
      STATES.map((a) => [a, Object.fromEntries([...FOLLOWS[a]!].map((b) => [b, 2 * draw()]))]),
    );
    const start = { B: draw(), M: -3.14e100, E: -3.14e100, S: draw() };
    chinese.useChinese(file({ start, trans, emit }));
    const rows = (length: number): string[] =>
      length ? rows(length - 1).flatMap((row) => STATES.map((state) => row + state)) : [""];
    const score = (row: string, run: string) =>
      [...row].reduce((sum, state, at) => {
        const before = row[at - 1];
        const step = before ? (trans[before]![state] ?? -1e50) : start[state as "B"];
        return sum + step + emit[state]![run[at]!]!;
      }, 0);
    for (const run of ["戊己", "己庚戊", "庚庚己戊"]) {
      const closed = rows(run.length).filter((row) => /[ES]$/.test(row));
      const best = closed.reduce((a, b) => (score(b, run) > score(a, run) ? b : a));
      const words = run.match(/./gu)!.reduce<string[]>((made, char, at) => {
        if (/[BS]/.test(best[at]!)) return [...made, char];
        return [...made.slice(0, -1), made.at(-1)! + char];
      }, []);
      expect(chinese.chineseWords(run)).toEqual(words);
    }
  });

  it("is made simple by the longest phrase, until nothing changes", () => {
    chinese.useChinese(file());
    expect(chinese.simplified("漢頭髮髮x")).toBe("汉头发发x");
    expect(chinese.simplified("汉")).toBe("汉");
  });
});
