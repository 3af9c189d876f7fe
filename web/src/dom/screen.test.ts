import { afterEach, describe, expect, it, vi } from "vitest";
import { isShown } from "./screen";

describe("whether something is shown", () => {
  const node = document.createElement("div");
  afterEach(() => vi.restoreAllMocks());

  it("is asked without laying the page out", () => {
    const width = vi.spyOn(node, "clientWidth", "get");
    for (const visible of [true, false]) {
      node.checkVisibility = () => visible;
      expect(isShown(node)).toBe(visible);
    }
    expect(width).not.toHaveBeenCalled();
  });

  it("is told by its width in a browser that cannot say", () => {
    node.checkVisibility = undefined!;
    const width = vi.spyOn(node, "clientWidth", "get");
    for (const wide of [640, 0]) {
      width.mockReturnValue(wide);
      expect(isShown(node)).toBe(wide > 0);
    }
  });
});
