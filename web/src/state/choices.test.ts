import { describe, expect, it } from "vitest";
import { overlaid, pinned, pinnedCell } from "./choices";

const NONE = { rows: [], columns: [] };

describe("pins", () => {
  it("come and go", () => {
    const once = pinned(NONE, "rows", 3);
    expect(once).toEqual({ rows: [3], columns: [] });
    expect(pinned(once, "rows", 3)).toEqual(NONE);
  });

  it("of a cell are both or neither", () => {
    const both = pinnedCell({ rows: [1], columns: [] }, 1, 2);
    expect(both).toEqual({ rows: [1], columns: [2] });
    expect(pinnedCell(both, 1, 2)).toEqual(NONE);
  });
});

describe("heads over each other", () => {
  const alone = { overlay: [], layer: 0, head: 0 };

  it("begin with the present one", () => {
    expect(overlaid(alone, [1, 2])).toEqual([
      [0, 0],
      [1, 2],
    ]);
  });

  it("are taken away again", () => {
    expect(overlaid({ ...alone, overlay: [[1, 2]] }, [1, 2])).toEqual([]);
  });

  it("hold the present one once", () => {
    expect(overlaid(alone, [0, 0])).toEqual([[0, 0]]);
  });
});
