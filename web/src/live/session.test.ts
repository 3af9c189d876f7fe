import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../protocol/registry";
import { EXAMPLES, payload } from "../test/example";
import { withoutWeights } from "../test/checkpoint";
import type { IdStep } from "./decode/steps";
import { health, split } from "./session";
import type { Trace } from "./trace";

const de = withoutWeights("de-en");

it.each(EXAMPLES)("of %s it tells of the text what Python does", (id) => {
  const { checkpoint, source, health: expected } = payload(id);
  expect(health(withoutWeights(checkpoint.name), source)).toEqual(expected);
});

describe("of a text that is refused", () => {
  const long = "Das Haus. ".repeat(60);
  it("it says why, before anybody asks", () => {
    const { problem, tokens, limit } = health(de, long);
    expect(tokens).toBeGreaterThan(limit);
    expect(problem).toContain(String(limit));
    expect(health(de, "Das Haus.").problem).toBe("");
  });
  it("nothing is counted above the limit of characters", () => {
    const endless = "a".repeat(LIMITS.characters + 1);
    expect(health(de, endless)).toMatchObject({ words: 0, tokens: 0 });
    expect(health(de, endless).problem).toContain("the text has 1,001 characters");
    expect(split(de, endless)).toEqual([]);
  });
  it("a blank one has no fault yet", () =>
    expect(health(de, " \u200b")).toMatchObject({ words: 0, problem: "" }));
});

describe("the pieces of a text", () => {
  it.each(["Das Haus ist groß, aber alt.", "Donaudampfschifffahrt 1984"])(
    "of %j are those that the model reads, word by word",
    (text) => {
      const pieces = split(de, text);
      const { tokens } = de.src.encode(text);
      expect(pieces.flat().map(({ s }) => s)).toEqual(tokens.map(({ surface }) => surface));
      expect(pieces.length).toBe(new Set(tokens.map(({ word }) => word)).size);
    },
  );
});

describe("a translation that is streamed", () => {
  const ids = de.tgt.ids("The house is old.");
  /** A step that has come to `count` tokens; each of them is as likely as its place says. */
  const stepOf = (count: number): IdStep => ({
    ids: ids.slice(0, count),
    produced: {
      ...{ logProb: -count, entropy: 1, candidates: [], own: new Float32Array(0) },
      cross: new Float32Array(de.model.config.decoder_layers * de.model.config.decoder_heads * 3),
    },
    beams: [],
  });
  const trace = { translation: "The house is old." } as Trace;
  const ended = vi.fn();
  let lengths: number[] = [];
  let stream: typeof import("./session").stream;
  beforeAll(async () => {
    vi.resetModules();
    vi.doMock("./trace", async (original) => ({
      ...(await original<typeof import("./trace")>()),
      *translate() {
        try {
          for (const count of lengths) yield stepOf(count);
          return trace;
        } finally {
          ended();
        }
      },
    }));
    ({ stream } = await import("./session"));
  });
  afterAll(() => {
    vi.doUnmock("./trace");
    vi.resetModules();
  });
  const all = (given: number[]) => {
    lengths = given;
    const steps = stream(de, { text: "Das Haus ist alt." });
    const told = [];
    for (;;) {
      const { done, value } = steps.next();
      if (done) return { told, value };
      told.push(value);
    }
  };

  it("has a message for every token, and the trace at the end", () => {
    const { told, value } = all([1, 2, 3]);
    expect(told.map(({ index, translation }) => [index, translation])).toEqual(
      [1, 2, 3].map((count) => [count - 1, de.tgt.decode(ids.slice(0, count))]),
    );
    expect(told.at(-1)!.log_probs).toEqual([-1, -2, -3]);
    expect(value).toBe(trace);
  });

  it("leaves out what is no longer than what was told", () => {
    const { told } = all([1, 2, 2, 1, 3]);
    expect(told.map(({ tgt }) => tgt.length)).toEqual([1, 2, 3]);
    expect(told.at(-1)!.log_probs).toEqual([-1, -2, -3]);
  });

  it("gives the engine's memory back where it is left half-way", () => {
    ended.mockReset();
    lengths = [1, 2, 3];
    const steps = stream(de, { text: "Das Haus ist alt." });
    steps.next();
    expect(ended).not.toHaveBeenCalled();
    steps.return(undefined as never);
    expect(ended).toHaveBeenCalledTimes(1);
  });
});
