/* What heads are worth, against one whole pass without each. */

import { beforeAll, describe, expect, it } from "vitest";
import forced from "../../../../tests/protocol/forced.json";
import sent from "../../../../tests/protocol/trace.json";
import { KINDS, type Kind } from "../../protocol/messages";
import { fixedModel } from "../../test/engine";
import { importance } from "./importance";
import type { Gates } from "./passes";
import type { Transformer } from "./transformer";

const SRC = sent.src.map(({ i }) => i);
const TGT = forced.ids;
const [L, H] = [2, 2];

let model: Transformer;
beforeAll(async () => void (model = await fixedModel()));

const score = (gates: Gates, by = model, target = TGT) =>
  by.heap.scoped(() => {
    const { logProbs } = by.decode(by.encode(SRC, gates), target, gates);
    const vocab = by.config.tgt_vocab;
    return target.reduce((sum, id, t) => sum + logProbs[t * vocab + id], 0);
  });
/** Of every head of a kind, by a pass over all with a gate closed. */
const slowly = (kind: Kind, by = model, target = TGT): number[] =>
  Array.from({ length: L * H }, (_, head) => {
    const gates = Float32Array.from({ length: L * H }, (_, at) => Number(at !== head));
    return score({ [kind]: gates }, by, target) - score({}, by, target);
  });
const quickly = (kind: Kind, by = model, target = TGT) => [...importance(by, SRC, target, kind)];

const near = (found: number[][], want: number[]) => {
  expect(found.map((row) => row.length)).toEqual([H, H]);
  found.flat().forEach((value, at) => expect(value).toBeCloseTo(want[at], 3));
};

describe.each(KINDS)("the worth of each %s head", (kind) => {
  it("is what a whole pass without it says", () => near(quickly(kind), slowly(kind)));

  it("is that of a masked and of a padded source too", async () => {
    for (const changes of [{ masked_ids: [SRC[2]] }, { padded_length: 13 }]) {
      const other = await fixedModel(changes);
      near(quickly(kind, other), slowly(kind, other));
    }
  });
});

describe("what was read of a translation", () => {
  it("serves all kinds, and no other translation", () => {
    const short = TGT.slice(1);
    const all = (target: number[]) => KINDS.map((kind) => quickly(kind, model, target));
    const [first, other, again] = [all(TGT), all(short), all(TGT)];
    expect(again).toEqual(first);
    KINDS.forEach((kind, at) => near(other[at], slowly(kind, model, short)));
  });

  it("is not kept over what another takes of the memory", () => {
    const want = quickly("cross");
    model.heap.scoped(() => {
      model.heap.putFloats(new Float32Array(100).fill(7));
      expect(quickly("cross")).toEqual(want);
    });
  });

  it("goes back when it is left between two layers", () => {
    const before = model.heap.exports.mark();
    const rows = importance(model, SRC, TGT, "encoder");
    rows.next();
    expect(model.heap.exports.mark()).toBeGreaterThan(before);
    rows.return(undefined as never);
    expect(model.heap.exports.mark()).toBe(before);
  });
});
