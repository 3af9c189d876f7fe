/* The lab's answers of a live page, against the server's about the same checkpoint:
   tests/protocol. */

import { beforeAll, describe, expect, it } from "vitest";
import askSaid from "../../../tests/protocol/lab_ask.json";
import boardSaid from "../../../tests/protocol/lab_board.json";
import switchSaid from "../../../tests/protocol/lab_switch.json";
import { KINDS } from "../protocol/messages";
import { differences, without } from "../test/differences";
import { fixedBundle } from "../test/engine";
import type { Bundle } from "./bundle";
import { board, headOf, leading, roles, scoreOf, switched, whole } from "./lab";
import { makeRequest } from "./request";
import { force, type Trace } from "./trace";
import { view } from "./views";

const TEXT = "Guten Morgen!"; // tests/protocol_maker.py
let bundle: Bundle;
let trace: Trace;
beforeAll(async () => {
  bundle = await fixedBundle();
  trace = whole(bundle, makeRequest(bundle, TEXT, { method: "greedy" }));
});

const ended = <R>(steps: Generator<void, R>): { pauses: number; value: R } => {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done) return { pauses, value };
  }
};
const boardWant = without(boardSaid, "translation");
const switchWant = without(switchSaid, "translation");

describe("the board", () => {
  it("has the worth and role of each head that the server says", () => {
    expect(trace.translation).toBe(boardSaid.translation);
    expect(differences(ended(board(bundle, trace, "cross")).value, boardWant)).toEqual([]);
  });

  it.each(KINDS)("of the %s can be stopped after each layer", (kind) => {
    const { pauses, value } = ended(board(bundle, trace, kind));
    expect(pauses).toBe(2);
    expect(value).toMatchObject({ kind, roles: roles(bundle, trace, kind) });
  });
});

describe("a translation with heads off", () => {
  const open = [[1, 1], [1, 1]]; // prettier-ignore

  it("is the server's, with links of words, before and after", () => {
    const gates = { cross: [[1, 0], [1, 1]] }; // prettier-ignore
    expect(differences(switched(bundle, trace, gates), switchWant)).toEqual([]);
  });

  it("of which none is off is what it was", () => {
    const found = switched(bundle, trace, { encoder: open, decoder: open, cross: open });
    const { before, after, change } = found as Record<string, unknown> & { change: number };
    expect(differences(after, before)).toEqual([]);
    expect(change).toBeCloseTo(0, 4);
  });

  it("links words by the heads that align, or by the best over a corpus", () => {
    const profile = { roles: { cross: ["aligns", "mixed", "mixed", "aligns"] } } as never;
    const by = (values: number[][], given = profile) =>
      switched({ ...bundle, profile: given }, trace, { cross: values }) as Record<
        "before" | "after",
        { links: number[][] }
      >;
    const links = (head: number) => {
      const { weights } = headOf(trace, "cross", Math.floor(head / 2), head % 2);
      // one token is one word in this target; its source's first word has four
      return Number(weights[0].slice(0, 4).reduce<number>((sum, each) => sum + each!, 0));
    };
    expect(by(open).before.links[0][0]).toBeCloseTo((links(0) + links(3)) / 2, 2);
    const best = { roles: { cross: Array(4).fill("mixed") }, rates: [0.5, 0.2, 0.9, 0.8] } as never;
    expect(by(open, best).before.links[0][0]).toBeCloseTo(links(1), 2);
  });
});

it("a word of several pieces has the mean of their links, without the end's", () => {
  const request = makeRequest(bundle, TEXT, { method: "greedy" });
  const forced = force(bundle, request, [...bundle.tgt.ids("tomorrow run"), 2]);
  const pieces = forced.tgt.filter(({ word, special }) => word === 0 && !special).length;
  expect(pieces).toBeGreaterThan(2);
  const profile = { roles: { cross: ["mixed", "mixed", "aligns", "mixed"] } } as never;
  const { before } = switched({ ...bundle, profile }, forced, {}) as {
    before: { links: number[][]; words: string[] };
  };
  expect(before.words).toEqual(["tomorrow", "run"]);
  const { weights } = headOf(forced, "cross", 1, 0);
  const read = weights.slice(0, pieces).map((row) => 1 - row.at(-1)!);
  const mean = read.reduce((a, b) => a + b, 0) / pieces;
  expect(before.links[0].reduce((a, b) => a + b, 0)).toBeCloseTo(mean, 2);
});

describe("a view", () => {
  it("of an edit is the server's, but for its figures", () => {
    const found = view(bundle, trace, "edit", { step: 1, choice: "The" });
    const { table, picks, lines } = askSaid;
    expect(differences(found, { table, picks, lines })).toEqual([]);
  });
});

describe("one head", () => {
  it("of a decoder has no weights in the future", () => {
    const { weights, queries, keys, predicts } = headOf(trace, "decoder", 1, 0);
    weights.forEach((row, i) =>
      row.forEach((value, j) => {
        if (j > i) expect(value).toBeNull();
        else expect(value).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(keys).toEqual(queries);
    expect(queries[0]).toBe("<s>");
    expect(predicts).toEqual(trace.tgt.map(({ surface }) => surface));
  });

  it("is the one that was asked for, and its rows are shares", () => {
    for (const kind of ["encoder", "cross"] as const) {
      const { weights } = headOf(trace, kind, 1, 0);
      const [, , Q, K] = trace[kind].shape;
      expect(weights.flat()).toEqual([...trace[kind].values.subarray(2 * Q * K, 3 * Q * K)]);
      for (const row of weights) expect(row.reduce((a, b) => a! + b!, 0)).toBeCloseTo(1, 5);
    }
    expect(headOf(trace, "encoder", 0, 0).predicts).toBeNull();
  });

  it("to look at first is that of fewest errors, or of this sentence", () => {
    const rates = [0.5, 0.4, 0.1, 0.9];
    expect(leading({ ...bundle, profile: { rates } as never }, trace)).toEqual([1, 0]);
    const [layer, head] = leading(bundle, trace);
    expect(roles(bundle, trace, "cross")[layer][head]).not.toBe("diffuse");
  });
});

it("the score of a translation is the sum over its tokens", () => {
  expect(scoreOf(trace)).toBeCloseTo(switchSaid.before.score, 4);
});
