import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { withoutWeights } from "../test/checkpoint";
import type { Bundle } from "./bundle";
import type { Beam, Ranked } from "./decode/steps";
import type { Request } from "./request";
import { EOS } from "./text/tokenizer";
import type { Thought, Trace } from "./trace";

const plain = withoutWeights("de-en");
const TEXT = "Das Haus ist alt.";
const ids = [...plain.tgt.ids("The house is old."), EOS];
const V = plain.model.config.tgt_vocab;

/** Log-probabilities of every token at every step, drawn. */
const rows = ids.map((_, t) => {
  let seed = t + 1;
  const row = Array.from({ length: V }, () => (seed = (seed * 16807) % 2147483647) / 2147483647);
  const sum = Math.log(row.reduce((all, x) => all + x, 0));
  return Float32Array.from(row, (x) => Math.log(x) - sum);
});
const bundle = {
  ...plain,
  model: {
    config: plain.model.config,
    heap: { scoped: <R>(run: () => R) => run() },
    encode: () => ({}),
    decode: () => ({ logProbs: Float32Array.from(rows.flatMap((row) => [...row])) }),
  },
} as unknown as Bundle;

const ranked = (t: number): Ranked[] =>
  [...rows[t]!.keys()]
    .sort((a, b) => rows[t]![b]! - rows[t]![a]!)
    .slice(0, 5)
    .map((id) => [id, rows[t]![id]!]);
const traceOf = (said: readonly number[], beams: readonly Beam[][] = []): Trace =>
  ({
    request: { source: TEXT } as Request,
    translation: bundle.tgt.decode(said),
    tgt: bundle.tgt.tokens(said),
    thoughts: said.map((id, t) => ({
      ...{ logProb: rows[t]![id]!, entropy: 1, candidates: ranked(t), beams: beams[t] ?? [] },
    })) as Thought[],
  }) as Trace;

const asked = vi.fn<(request: Request) => Trace>();
let view: typeof import("./views").view;
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("./lab", async (original) => ({
    ...(await original<typeof import("./lab")>()),
    whole: (_: Bundle, request: Request) => asked(request),
  }));
  vi.doMock("./trace", async (original) => ({
    ...(await original<typeof import("./trace")>()),
    force: (_: Bundle, __: Request, target: number[]) => traceOf(target),
  }));
  ({ view } = await import("./views"));
});
afterAll(() => {
  vi.doUnmock("./lab");
  vi.doUnmock("./trace");
  vi.resetModules();
});
beforeEach(() => void asked.mockReset());
const score = (said: readonly number[]) =>
  said
    .reduce((sum, id, t) => sum + rows[t]![id]!, 0)
    .toFixed(2)
    .replace("-", "−");

it.each(["causes", "constructor", "__proto__", ""])("%j is no view of a live page", (name) =>
  expect(() => view(bundle, traceOf(ids), name, {})).toThrow("needs the page with a server"),
);

describe("a forced target", () => {
  it("has of every token its log-probability and how many were likelier", () => {
    const { table, lines } = view(bundle, traceOf(ids), "force", { target: "The house is old." });
    expect(table!.rows.map(([surface]) => surface)).toEqual(
      bundle.tgt.tokens(ids).map((token) => token.surface),
    );
    table!.rows.forEach(([, logProb, rank], t) => {
      expect(logProb).toBe(rows[t]![ids[t]!]!.toFixed(2).replace("-", "−"));
      const order = [...rows[t]!].sort((a, b) => b - a);
      expect(Number(rank)).toBe(1 + order.indexOf(rows[t]![ids[t]!]!));
    });
    expect(lines![1]![0]).toBe("This is what the model chooses itself.");
    expect(lines![0]![1]).toMatchObject({ given: score(ids), chosen: score(ids) });
  });

  it("that is likelier than what was found is a fault of the search, else of the model", () => {
    const end = ids.length - 1;
    const drawn = (t: number) => [...rows[t]!.keys()].sort((a, b) => rows[t]![b]! - rows[t]![a]!);
    const best = ids.map((id, t) => (t < end ? drawn(t)[0]! : id));
    const worst = ids.map((id, t) => (t < end ? drawn(t).at(-1)! : id));
    const target = "The house is old.";
    const verdict = (own: number[]) =>
      view(bundle, traceOf(own), "force", { target }).lines![1]![0];
    expect(verdict(best)).toMatch(/^Model error/);
    expect(verdict(worst)).toMatch(/^Search error/);
  });
});

describe("an edit", () => {
  const prefixOf = (more: object) => {
    asked.mockImplementation(() => traceOf(ids));
    view(bundle, traceOf(ids), "edit", { step: 2, ...more });
    return asked.mock.lastCall![0].prefix;
  };
  it("puts the runner-up where nothing is named", () => {
    const [[first], [second]] = ranked(1) as [Ranked, Ranked];
    expect(prefixOf({ choice: " " })).toEqual([ids[0], first === ids[1] ? second : first]);
  });
  it("puts a candidate by its name, and else a text in its own pieces", () => {
    const [id] = ranked(1)[3]!;
    expect(prefixOf({ choice: bundle.tgt.token(id).surface })).toEqual([ids[0], id]);
    expect(prefixOf({ choice: "houses" })).toEqual([ids[0], ...bundle.tgt.ids("houses")]);
  });
  it("says both translations, and the candidates that can be picked", () => {
    asked.mockImplementation(() => traceOf([ids[0]!, EOS]));
    const { lines, picks, table } = view(bundle, traceOf(ids), "edit", { step: 1, choice: "" });
    expect(lines!.map(([, said]) => said.score)).toEqual([score(ids), score([ids[0]!, EOS])]);
    expect(picks).toEqual(ranked(0).map(([id]) => bundle.tgt.token(id).surface));
    expect(table!.rows.map(([, p]) => p)).toEqual(
      ranked(0).map(([, lp]) => Math.exp(lp).toFixed(3)),
    );
  });
  it("beyond the last token is refused", () =>
    expect(() => view(bundle, traceOf(ids), "edit", { step: ids.length + 1 })).toThrow());
});

it("the beams of a search are told from the best on, and those that led nowhere are counted", () => {
  const beam = (said: number[], parent: number, normalised: number, ended = false): Beam =>
    ({ ids: said, parent, score: normalised * 2, normalised, ended }) as unknown as Beam;
  const [a, b] = ids as [number, number];
  const beams = [
    [beam([a], 0, -1), beam([b], 0, -2), beam([EOS], 0, -3, true)],
    [beam([a, EOS], 0, -1.5, true), beam([a, b], 0, -2)],
  ];
  asked.mockImplementation(() => traceOf([a, EOS], beams));
  const { table, lines, chosen } = view(bundle, traceOf(ids), "beams", { beam: 3, penalty: 1 });
  expect(asked.mock.lastCall![0].config).toMatchObject({
    method: "beam",
    beam: 3,
    length_penalty: 1,
  });
  expect(chosen).toEqual({ beam: 3, penalty: 1 });
  expect(table!.rows.map(([, , normalised, fate]) => [normalised, fate])).toEqual([
    ["−1.50", "won"],
    ["−3.00", "ended"],
  ]);
  expect(lines![2]![1]).toEqual({ all: 5, pruned: 1 }); // b alone: nobody goes on from it
});
