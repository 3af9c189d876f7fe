import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeNewest } from "./newest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("values that come faster than they are drawn", () => {
  it("are taken later, the newest alone", () => {
    const take = vi.fn();
    const { soon } = makeNewest<{ index: number }>(take);
    [0, 1, 2].forEach((index) => soon({ index }));
    expect(take).not.toHaveBeenCalled();
    vi.runAllTimers();
    soon({ index: 3 });
    vi.runAllTimers();
    expect(take.mock.calls).toEqual([[{ index: 2 }], [{ index: 3 }]]);
  });

  it("are forgotten when something else came", () => {
    const take = vi.fn();
    const { soon, drop } = makeNewest<{ index: number }>(take);
    soon({ index: 0 });
    drop();
    vi.runAllTimers();
    expect(take).not.toHaveBeenCalled();
    soon({ index: 1 });
    vi.runAllTimers();
    expect(take.mock.calls).toEqual([[{ index: 1 }]]);
  });
});
