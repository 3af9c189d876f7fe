import { afterAll, beforeAll, expect, it, vi } from "vitest";

/** A module of this file's own: what was told of languages is known for good. */
let known: typeof import("./languages");
beforeAll(async () => {
  vi.resetModules();
  known = await import("./languages");
});
afterAll(() => vi.resetModules());

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
const PRIOR = [-1, -1.5, -0.5];
/** Of "a", "z" and "th", which begins with no other, in each language. */
const SCORES = [
  [-1, -2, -6],
  [-2, -5, -1],
  [-3, -1, -7],
];
const FILE = {
  languages: ["de", "en", "fr"],
  prior: PRIOR,
  counts: [0, 2, 1],
  shared: "000",
  rest: base64(new TextEncoder().encode("azth")),
  scores: base64(new Uint8Array(new Float32Array(SCORES.flat()).buffer)),
};

it("nothing is said before a page knows languages", () => {
  expect(known.languagesAreKnown()).toBe(false);
  expect(known.classify("the", ["de", "en"])).toEqual(["", 0]);
});

it("the likeliest of the wanted languages is said, by what ends at each byte", () => {
  known.useLanguages(FILE);
  // "math": an "a" and a "th"; the "h" ends nothing but the longer
  const sums = SCORES.map(([a, , th], at) => PRIOR[at]! + Math.LN2 * (a! + th!));
  const scaled = sums.map((sum) => Math.exp(sum / Math.sqrt(4)));
  const [language, share] = known.classify("math", ["de", "en"]);
  expect(language).toBe("en");
  expect(share).toBeCloseTo(scaled[1]! / (scaled[0]! + scaled[1]!), 6);
  expect(known.classify("math", ["fr"])).toEqual(["fr", 1]);
});

it("capitals count as small letters where all are capitals", () => {
  expect(known.classify("MATH", ["de", "en"])).toEqual(known.classify("math", ["de", "en"]));
  expect(known.classify("mAth", ["de", "en"])).not.toEqual(known.classify("math", ["de", "en"]));
});
