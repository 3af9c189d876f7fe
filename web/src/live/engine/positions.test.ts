import { describe, expect, it } from "vitest";
import { sinusoids } from "./positions";

const rate = (pair: number, width: number) => 10000 ** ((-2 * pair) / width);

describe("sinusoidal positions", () => {
  it("stand side by side, or all sines first", () => {
    const [mixed, apart] = (["interleaved", "concatenated"] as const).map((layout) =>
      sinusoids(5, 6, layout),
    );
    for (let t = 0; t < 5; t++)
      for (let pair = 0; pair < 3; pair++) {
        const angle = t * rate(pair, 6);
        expect(mixed[6 * t + 2 * pair]).toBeCloseTo(Math.sin(angle), 6);
        expect(mixed[6 * t + 2 * pair + 1]).toBeCloseTo(Math.cos(angle), 6);
        expect(apart[6 * t + pair]).toBe(mixed[6 * t + 2 * pair]);
        expect(apart[6 * t + 3 + pair]).toBe(mixed[6 * t + 2 * pair + 1]);
      }
  });

  it("may begin elsewhere, and have a last sine without a cosine", () => {
    const [from2] = [sinusoids(3, 4, "interleaved", 2)];
    expect([...from2.subarray(0, 4)]).toEqual([...sinusoids(3, 4, "interleaved").subarray(8)]);
    expect(sinusoids(2, 3, "interleaved")).toHaveLength(6);
    expect(sinusoids(2, 3, "interleaved")[5]).toBeCloseTo(Math.sin(rate(1, 3)), 6);
  });
});
