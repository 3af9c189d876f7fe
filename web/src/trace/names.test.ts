import { describe, expect, it } from "vitest";
import { KINDS } from "../protocol/messages";
import { EXAMPLES, example } from "../test/example";
import { kindName, namedModel, ROLES, roleName, roleSays, usually } from "./names";

const places = (id: string) => {
  const trace = example(id);
  return KINDS.flatMap((kind) => {
    const { layers, heads } = trace.maps[kind];
    return Array.from({ length: layers * heads }, (_, at) => ({ trace, kind, at, heads }));
  });
};

it("every role and kind has a name of its own, and every role a sentence", () => {
  expect(new Set(ROLES.map(roleName)).size).toBe(ROLES.length);
  expect(new Set(ROLES.map(roleSays)).size).toBe(ROLES.length);
  expect(new Set(KINDS.map(kindName)).size).toBe(KINDS.length);
});

describe.each(EXAMPLES.slice(0, 4))("what a head of %s usually does", (id) => {
  it.each(KINDS)("is its role over the corpus, %s", (wanted) => {
    for (const { trace, kind, at, heads } of places(id).filter(({ kind }) => kind === wanted)) {
      const found = usually(trace, kind, Math.floor(at / heads), at % heads);
      const { roles, rates, sentences, data } = trace.profile!;
      const role = roles[kind]![at]!;
      expect(found).toMatchObject({ role, text: `usually: ${roleName(role).toLowerCase()}` });
      expect(found!.title).toContain(`${roleSays(role)}, over ${sentences} sentences of ${data}`);
      const rate = /alignment error rate (\d\.\d\d)/.exec(found!.title)?.[1];
      expect(rate).toBe(kind === "cross" ? rates[at]!.toFixed(2) : undefined);
    }
  });
});

it("by which reading a head aligned is said where it is known", () => {
  const trace = example("en-zh-father");
  const profile = { ...trace.profile!, rates: [0.125], readings: ["output" as const] };
  const title = (more: object) =>
    usually(
      Object.assign(example("en-zh-father"), { profile: { ...profile, ...more } }),
      "cross",
      0,
      0,
    )!.title;
  expect(title({})).toContain("0.13 by what a row predicts");
  expect(title({ readings: ["input"] })).toContain("0.13 by what a row reads");
  expect(title({ readings: undefined })).toMatch(/0\.13$/);
});

it("nothing is said of a checkpoint that was not profiled", () => {
  const bare = Object.assign(example(), { profile: undefined });
  expect(usually(bare, "cross", 0, 0)).toBeNull();
});

it.each([
  ["de-en", "de", "en", "de-en"],
  ["my-model", "de", "en", "my-model (German → English)"],
  ["my-model", "und", "und", "my-model"],
])("the model %s from %s to %s is called %s", (name, src, tgt, expected) =>
  expect(namedModel({ checkpoint: { ...example().checkpoint, name, src, tgt } })).toBe(expected),
);
