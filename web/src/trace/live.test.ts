import { describe, expect, it } from "vitest";
import type { StepPayload } from "../protocol/messages";
import { example } from "../test/example";
import { LiveTranslation } from "./live";

const whole = example("en-zh-father");
const { layers, heads, columns } = whole.maps.cross;
const FULL = 65535;

/** Row t of every head, as "u16" packs it: upper bytes, then lower ones. */
const packed = (t: number): string => {
  const rows = Array.from({ length: layers * heads }, (_, at) =>
    whole.head("cross", Math.floor(at / heads), at % heads).slice(t * columns, (t + 1) * columns),
  );
  const numbers = rows.flatMap((row) => [...row]).map((weight) => Math.round(weight * FULL));
  const bytes = [...numbers.map((n) => n >> 8), ...numbers.map((n) => n & 255)];
  return btoa(String.fromCharCode(...bytes));
};
const step = (t: number): StepPayload =>
  ({
    kind: "step",
    index: t,
    checkpoint: whole.checkpoint,
    src: whole.src,
    start: whole.start,
    tgt: whole.tgt.slice(0, t + 1),
    step: whole.steps[t],
    log_probs: whole.steps.slice(0, t + 1).map(({ lp }) => lp),
    shape: [layers, heads, columns],
    cross: packed(t),
    translation: "",
  }) as unknown as StepPayload;
const told = (...steps: number[]) => {
  const live = new LiveTranslation(step(steps[0]!));
  for (const t of steps) live.add(step(t));
  return live;
};

describe("a translation that is being written", () => {
  it("has at each step the rows and steps of the whole", () => {
    for (let t = 0; t < whole.tgt.length; t++) {
      const found = told(...Array.from({ length: t + 1 }, (_, at) => at)).frozen();
      expect(found.maps.cross).toMatchObject({ layers, heads, rows: t + 1, columns });
      expect(found.reads).toEqual(whole.reads.slice(0, t + 1));
      expect(found.steps).toEqual(whole.steps.slice(0, t + 1));
      const last = found.head("cross", layers - 1, heads - 1);
      const expected = whole.head("cross", layers - 1, heads - 1).slice(0, (t + 1) * columns);
      expect(Math.max(...last.map((weight, at) => Math.abs(weight - expected[at]!)))).toBeLessThan(
        0.6 / FULL,
      );
    }
  });

  it("leaves a row empty that did not come, and keeps what is known of its step", () => {
    const found = told(0, 2).frozen();
    const head = found.head("cross", 0, 0);
    const sum = (t: number) =>
      head.slice(t * columns, (t + 1) * columns).reduce((all, weight) => all + weight, 0);
    expect([sum(0), sum(1), sum(2)]).toEqual([expect.closeTo(1, 3), 0, expect.closeTo(1, 3)]);
    expect(found.steps[1]).toEqual({ lp: whole.steps[1]!.lp, h: 0, c: [] });
  });

  it("once frozen stays as it was", () => {
    const live = told(0);
    const first = live.frozen();
    live.add(step(1));
    expect(first.maps.cross.rows).toBe(1);
    expect(first.tgt).toHaveLength(1);
    expect(live.frozen().tgt).toHaveLength(2);
    expect([live.live, first.live, whole.live]).toEqual([true, true, false]);
  });
});
