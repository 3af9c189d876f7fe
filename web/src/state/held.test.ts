import { describe, expect, it, vi } from "vitest";
import { makeHeld } from "./held";

/** Something whose maps 0 to 9 come one by one. */
const held = () => {
  const there = new Set([0]);
  const asked: { map: number; come: () => void; fail: () => void }[] = [];
  const made: object[] = [];
  const failed = vi.fn();
  const { set, waits } = makeHeld<{ map?: number; step?: number }>({
    bring: ({ map = 0 }) => {
      if (there.has(map)) return null;
      return new Promise((resolve, reject) => {
        const come = () => (there.add(map), resolve());
        asked.push({ map, come, fail: () => reject(new Error("gone")) });
      });
    },
    apply: (patch) => made.push(patch),
    failed,
  });
  return { set, waits, asked, made, failed };
};
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("a choice", () => {
  it("is made at once where all is there, and what follows runs after it", () => {
    const { set, made } = held();
    set({ map: 0 }, () => made.push({ after: true }));
    expect(made).toEqual([{ map: 0 }, { after: true }]);
  });

  it("waits for what it shows, and later ones wait with it", async () => {
    const { set, waits, asked, made } = held();
    set({ map: 1 }, () => made.push({ after: 1 }));
    set({ step: 4 }, () => made.push({ after: 2 }));
    expect([waits(), made]).toEqual([true, []]);
    asked[0].come();
    await settled();
    expect([waits(), made]).toEqual([false, [{ map: 1, step: 4 }, { after: 1 }, { after: 2 }]]);
  });

  it("waits again where a later one shows something else", async () => {
    const { set, asked, made } = held();
    set({ map: 1 });
    set({ map: 2 });
    asked[0].come();
    await settled();
    expect([made, asked.map(({ map }) => map)]).toEqual([[], [1, 2]]);
    asked[1].come();
    await settled();
    expect(made).toEqual([{ map: 2 }]);
  });

  it("is not made where nothing comes, and others can be", async () => {
    const { set, waits, asked, made, failed } = held();
    set({ map: 1 }, () => made.push({ after: 1 }));
    asked[0].fail();
    await settled();
    expect(failed).toHaveBeenCalledOnce();
    expect([waits(), made]).toEqual([false, []]);
    set({ map: 0 });
    expect(made).toEqual([{ map: 0 }]);
  });
});
