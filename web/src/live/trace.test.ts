/* Translations by the model behind tests/protocol: what a search saw is what a forced pass sees. */

import { beforeAll, describe, expect, it, vi } from "vitest";
import { apart, fixedBundle } from "../test/engine";
import type { Bundle } from "./bundle";
import { whole } from "./lab";
import { makeRequest } from "./request";
import { force, type Trace, translate } from "./trace";

let bundle: Bundle;
beforeAll(async () => void (bundle = await fixedBundle()));
const TEXT = "Guten Morgen, das Haus!";
const asking = (settings: object = {}, prefix: number[] = []) =>
  makeRequest(bundle, TEXT, { method: "greedy", max_length: 6, ...settings }, prefix);
const idsOf = ({ tgt }: Trace) => tgt.map(({ id }) => id);
const CLOSE = 2e-5;

/** Two traces have the same maps and thoughts. */
const same = (found: Trace, want: Trace) => {
  for (const kind of ["encoder", "decoder", "cross"] as const) {
    expect(found[kind].shape).toEqual(want[kind].shape);
    expect(apart(found[kind].values, want[kind].values)).toBeLessThan(CLOSE);
  }
  for (const name of ["logProb", "entropy"] as const)
    expect(
      apart(
        found.thoughts.map((each) => each[name]),
        want.thoughts.map((each) => each[name]),
      ),
    ).toBeLessThan(CLOSE);
  const candidates = ({ thoughts }: Trace) =>
    thoughts.map((each) => each.candidates.map(([id]) => id));
  expect(candidates(found)).toEqual(candidates(want));
};

describe("a translation", () => {
  it.each([
    ["greedy", {}],
    ["sampled", { method: "sample", seed: 4 }],
    ["searched by a beam", { method: "beam", beam: 3 }],
    ["ended by force", { max_length: 2, force_eos: true }],
  ])("%s has the maps and thoughts of a pass over its own target", (_, settings) => {
    const request = asking(settings);
    const found = whole(bundle, request);
    const want = force(bundle, request, idsOf(found));
    same(found, want);
    expect(found.translation).toBe(bundle.tgt.decode(idsOf(found)));
    expect(found.truncated).toBe(want.truncated);
  });

  it("by a beam has what its winner read, wherever it stood among the others", async () => {
    const own = await fixedBundle();
    const longer = { ...own.model.config, min_length: 5 }; // or it would end with its first token
    Object.assign(own.model, { config: longer });
    const settings = { method: "beam", beam: 3, no_repeat_ngram_size: 1, max_length: 9 };
    const request = makeRequest(own, TEXT, settings);
    const found = whole(own, request);
    const ids = idsOf(found);
    const places = found.thoughts.map(({ beams }, t) =>
      beams
        .filter(({ ended }) => !ended)
        .findIndex((each) => each.ids.join() === ids.slice(0, t + 1).join()),
    );
    expect(places.slice(0, -1).filter(Boolean).length).toBeGreaterThan(0);
    same(found, force(own, request, ids));
  });

  it("has the tokens of its source, with their end, and as many rows as tokens", () => {
    const found = whole(bundle, asking());
    expect(found.src.map(({ id }) => id)).toEqual(found.request.srcIds);
    expect(found.src.at(-1)!.special).toBe(true);
    expect(found.start.id).toBe(bundle.model.config.start_id);
    expect(found.thoughts).toHaveLength(found.tgt.length);
    for (const { candidates } of found.thoughts) {
      expect(candidates).toHaveLength(found.request.config.candidates);
      expect(candidates).toEqual([...candidates].sort((a, b) => b[1] - a[1]));
    }
  });

  it("keeps the hypotheses of every step of a beam, and of nothing else", () => {
    const beams = (settings: object) =>
      whole(bundle, asking(settings)).thoughts.map((each) => each.beams.length > 0);
    expect(beams({ method: "beam", beam: 3 })).not.toContain(false);
    expect(beams({})).not.toContain(true);
  });

  it("counts the time of decoding and not that of who listens", () => {
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
    const steps = translate(bundle, asking());
    let count = 0;
    for (;;) {
      const { done, value } = steps.next();
      now += 1000;
      if (!done) count++;
      else {
        expect(value.took).toBe(count + 1); // one tick for each stretch between two steps
        break;
      }
    }
    clock.mockRestore();
  });

  it("gives the memory back when it ends, when it is left, and when it fails", () => {
    const { exports } = bundle.model.heap;
    const before = exports.mark();
    whole(bundle, asking({ method: "beam", beam: 4 }));
    expect(exports.mark()).toBe(before);
    const left = translate(bundle, asking());
    left.next();
    expect(exports.mark()).toBeGreaterThan(before);
    left.return(undefined as never);
    expect(exports.mark()).toBe(before);
    const wrong = asking({ method: "beam", coverage_penalty: 1, coverage_heads: [[9, 9]] });
    expect(() => whole(bundle, wrong)).toThrow("coverage_heads");
    expect(exports.mark()).toBe(before);
  });
});

describe("a forced translation", () => {
  it("is cut unless it ends, and where its end was forced", () => {
    const cut = (ids: number[], settings: object = {}) =>
      force(bundle, asking(settings), ids).truncated;
    expect(cut([287, 2])).toBe(false);
    expect(cut([287])).toBe(true);
    expect(cut([287, 2], { max_length: 2, force_eos: true })).toBe(true);
    expect(cut([287, 2], { max_length: 3, force_eos: true })).toBe(false);
  });

  it("with every gate open is the same, with one closed another", () => {
    const ids = [287, 297, 2];
    const by = (values: number[]) =>
      force(bundle, asking(), ids, { cross: Float32Array.from(values) }).thoughts;
    expect(by([1, 1, 1, 1])).toEqual(force(bundle, asking(), ids).thoughts);
    expect(by([1, 0, 1, 1])).not.toEqual(by([1, 1, 1, 1]));
  });
});
