import { describe, expect, it } from "vitest";
import { generator } from "./random";

const drawn = (seed: number, count: number) => {
  const next = generator(seed);
  return Array.from({ length: count }, next);
};

describe("random numbers", () => {
  it("are the same for the same seed, others for another", () => {
    expect(drawn(7, 20)).toEqual(drawn(7, 20));
    expect(drawn(7, 20)).not.toEqual(drawn(8, 20));
  });

  it("fill the range from 0 to 1 evenly", () => {
    const numbers = drawn(1, 10_000);
    const counts = new Array<number>(10).fill(0);
    for (const each of numbers) counts[Math.floor(10 * each)]!++;
    const surprise = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(surprise).toBeLessThan(27.9); // chi squared with nine degrees of freedom, p = 0.001
  });
});
