import { describe, expect, it } from "vitest";
import type { Kind, Place, Role } from "../protocol/messages";
import { PUNCTUATION, SPECIAL } from "../protocol/flags";
import { EXAMPLES, example } from "../test/example";
import { ROLES } from "./names";
import { roleRow } from "./role-row";
import { strongestHead } from "./roles";

/** Where a row looks most, of the keys that it may see. */
const looks = (trace: ReturnType<typeof example>, kind: Kind, [l, h]: Place, row: number) => {
  const { columns } = trace.maps[kind];
  const weights = [...trace.head(kind, l, h).slice(row * columns, (row + 1) * columns)];
  const best = weights.indexOf(Math.max(...weights));
  return {
    best,
    weight: weights[best],
    plain: !(trace.keys(kind)[best].f & (SPECIAL | PUNCTUATION)),
  };
};
const BESIDE: Partial<Record<Role, number>> = { previous: -1, same: 0, next: 1 };

describe.each(EXAMPLES)("in %s the row that a role is shown in", (id) => {
  const trace = example(id);
  const each = trace.kinds.flatMap((kind) =>
    ROLES.flatMap((role): [Kind, Role, Place][] => {
      const place = strongestHead(trace, kind, role);
      return place ? [[kind, role, place]] : [];
    }),
  );
  it.each(each)("%s, %s: does what it says", (kind, role, place) => {
    for (let present = 0; present < trace.maps[kind].rows; present++) {
      const row = roleRow(trace, kind, place, role, present);
      const { best, plain } = looks(trace, kind, place, row);
      const beside = BESIDE[role];
      if (beside !== undefined) expect(best).toBe(row + beside);
      else if (role === "sink") expect(plain).toBe(false);
      else if (role === "aligns") expect(plain).toBe(true);
      else if (role === "mixed") expect(row).toBe(present);
    }
  });
});

describe("the present row", () => {
  const trace = example("en-zh-father");
  const place = strongestHead(trace, "encoder", "previous")!;
  const back = trace.src.flatMap(({ f }, row) =>
    !(f & SPECIAL) && looks(trace, "encoder", place, row).best === row - 1 ? [row] : [],
  );
  it("stays where the head does it there too", () => {
    expect(back.length).toBeGreaterThan(1);
    for (const row of back) expect(roleRow(trace, "encoder", place, "previous", row)).toBe(row);
  });
  it("gives way to the one with the largest weight where it does not", () => {
    const row = roleRow(trace, "encoder", place, "previous", 0);
    const most = Math.max(...back.map((each) => looks(trace, "encoder", place, each).weight));
    expect(looks(trace, "encoder", place, row).weight).toBe(most);
  });
});
