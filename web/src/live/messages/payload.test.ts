/* What a live page says of a translation, against what the server says of the same one:
   tests/protocol. */

import { beforeAll, describe, expect, it } from "vitest";
import forcedSaid from "../../../../tests/protocol/forced.json";
import stepSaid from "../../../../tests/protocol/step.json";
import traceSaid from "../../../../tests/protocol/trace.json";
import { floatsOf } from "../../protocol/decode";
import { KINDS, type Message } from "../../protocol/messages";
import { differences, without } from "../../test/differences";
import { apart, fixedBundle } from "../../test/engine";
import type { Bundle } from "../bundle";
import { forced, payload, stream } from "../session";
import type { Trace } from "../trace";

const SETTINGS = { method: "beam", beam: 2, max_length: 5, candidates: 3 };
type Sent = Parameters<typeof floatsOf>[0];
const UNIT = 1.5 / 65_535; // of a weight as it is sent

let bundle: Bundle;
beforeAll(async () => void (bundle = await fixedBundle()));

const told = (text: string, settings: object, prefix = "") => {
  const steps: Message[] = [];
  const streaming = stream(bundle, { text, settings, prefix });
  for (;;) {
    const { done, value } = streaming.next();
    if (done) return { steps, trace: value as Trace };
    steps.push(value);
  }
};
describe("a translation", () => {
  const said = () => payload(bundle, told(traceSaid.source, SETTINGS).trace, "u16");

  it("is told of as the server does: tokens, words, steps, beams, measures and roles", () => {
    // the direction is the desk's to say
    const bare = (message: object) => without(message, "weights", "rollout", "direction");
    expect(differences(bare(said()), bare(traceSaid))).toEqual([]);
  });

  it("of several tokens has heads and words by what each row reads and predicts", () => {
    const found = payload(bundle, forced(bundle, { text: traceSaid.source }, forcedSaid.ids));
    const { heads, leading, words } = found;
    expect(differences({ heads, leading, words }, forcedSaid.told)).toEqual([]);
  });

  it.each([undefined, "u16", "f32"] as const)("has the server's maps (%s)", (packing) => {
    const found = payload(bundle, told(traceSaid.source, SETTINGS).trace, packing);
    const read = (sent: Sent) => floatsOf(sent, found.encoding);
    const server = (text: string) => floatsOf(text, "u16");
    for (const kind of KINDS)
      expect(apart(read(found.weights[kind]), server(traceSaid.weights[kind]))).toBeLessThan(UNIT);
    // what flows through all layers
    expect(apart(read(found.rollout), server(traceSaid.rollout))).toBeLessThan(UNIT);
  });

  it("has weights of its own, without what lies beside them in the engine's memory", () => {
    const { trace } = told(traceSaid.source, SETTINGS);
    const { weights } = payload(bundle, trace);
    const cross = weights.cross as Float32Array;
    expect(cross).toEqual(trace.cross.values);
    expect(cross.buffer).not.toBe(trace.cross.values.buffer);
    for (const kind of KINDS) {
      const { buffer, byteLength } = weights[kind] as Float32Array;
      expect(buffer.byteLength).toBe(byteLength);
    }
  });

  it("says whether it was decoded by the checkpoint's own settings", () => {
    const { trace } = told(traceSaid.source, {});
    expect(payload(bundle, trace).automatic).toBe(true);
    expect(said().automatic).toBe(false);
  });

  it("brings along the profile of its checkpoint", async () => {
    const profile = { sentences: 3 } as unknown as Bundle["profile"];
    const { trace } = told(traceSaid.source, SETTINGS);
    expect(
      payload({ ...bundle, profile: { ...profile, rates: [1, 0, 1, 1] } as never }, trace),
    ).toEqual(expect.objectContaining({ profile: expect.objectContaining(profile!) }));
    expect(said()).not.toHaveProperty("profile");
  });
});

describe("a step", () => {
  it("is told of as the server does", () => {
    const found = told(traceSaid.source, SETTINGS).steps.find(
      (step) => step.kind === "step" && step.index === stepSaid.index,
    )! as typeof stepSaid;
    expect(differences(without(found, "cross"), without(stepSaid, "cross"))).toEqual([]);
    expect(apart(floatsOf(found.cross, "u16"), floatsOf(stepSaid.cross, "u16"))).toBeLessThan(UNIT);
  });
});

describe("the hypotheses of a step", () => {
  const beams = (prefix = "") => {
    const wide = { ...SETTINGS, beam: 4, max_length: 60 };
    const { trace } = told(traceSaid.source, wide, prefix);
    return payload(bundle, trace).steps.map(({ b }) => b!);
  };

  it("lead where they are what won so far, and end with the end token alone", () => {
    const steps = beams();
    const leading = steps.map((step) => step.filter(({ w }) => w).length);
    expect(leading.every((count) => count <= 1)).toBe(true);
    expect(leading.at(-1)).toBe(1);
    expect(steps.flat().some(({ e }) => e)).toBe(true);
  });

  it("of one text are told apart from the first by a mark", () => {
    const { trace } = told(traceSaid.source, SETTINGS);
    const written = (id: number) => {
      const { surface, space } = bundle.tgt.token(id);
      return (space ? " " : "") + surface;
    };
    const pieces = Array.from({ length: bundle.tgt.size }, (_, id) => written(id));
    const piece = (text: string) => pieces.indexOf(text);
    const [whole, start, end] = [" in", " i", "n"].map(piece) as [number, number, number];
    const usual = { score: -1, normalised: -1, parent: 0, ended: false };
    const beams = [
      { ...usual, ids: [whole, start, end] },
      { ...usual, ids: [start, end, whole] },
      { ...usual, ids: [start, end, whole], ended: true },
      { ...usual, ids: [whole, whole, whole] },
    ];
    const thoughts = trace.thoughts.map((thought) => ({ ...thought, beams }));
    const [{ b }] = payload(bundle, { ...trace, thoughts }).steps;
    expect(b!.map(({ s, x }) => [s, x])).toEqual([
      ["in in", undefined],
      ["in in", 1],
      ["in in", undefined],
      ["in in in", undefined],
    ]);
  });

  it("show their last sixty characters at most", () => {
    const all = beams("The house is big but old. ".repeat(3)).flat();
    const long = all.filter(({ s }) => s.startsWith("…"));
    expect(long.length).toBeGreaterThan(0);
    for (const { s } of all) expect([...s].length).toBeLessThanOrEqual(60);
    for (const { s } of long) expect([...s]).toHaveLength(60);
  });
});
