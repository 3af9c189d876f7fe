import { describe, expect, it } from "vitest";
import { floatsOf, fromTriangles } from "../../protocol/decode";
import { lowerTriangles, pack } from "./pack";

const weights = Float32Array.from({ length: 40_000 }, (_, i) => Math.abs(Math.sin(i)));

describe("packed weights", () => {
  it("are read again as they were, or to one part in 65,535", () => {
    const exact = floatsOf(pack(weights, "f32"), "f32");
    expect(weights.every((each, i) => each === exact[i])).toBe(true);
    const near = floatsOf(pack(weights, "u16"), "u16");
    expect(weights.every((each, i) => Math.abs(each - near[i]!) < 1 / 131_000)).toBe(true);
  });

  it("are held between 0 and 1", () => {
    expect([...floatsOf(pack([-1, 2], "u16"), "u16")]).toEqual([0, 1]);
  });

  it("of a decoder go without their future, and get it back", () => {
    const maps = Float32Array.of(1, 0, 0, 2, 3, 0, 4, 5, 6, 7, 0, 0, 8, 9, 0, 1, 2, 3);
    const sent = lowerTriangles(maps, 3);
    expect([...sent]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3]);
    expect(fromTriangles(sent, 2, 3)).toEqual(maps);
  });
});
