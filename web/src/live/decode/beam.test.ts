import { describe, expect, it } from "vitest";
import { BeamSearch, attentionPaid, covered, penalty } from "./beam";
import { USUAL } from "./config";
import { NOTHING, extend, type Produced } from "./steps";

const EOS = 2;
const [own, cross] = [new Float32Array(0), new Float32Array(0)];
/** How any token came about. */
const how = (): Produced => ({ logProb: -1, entropy: 0, candidates: [], own, cross });
const config = { ...USUAL, method: "beam" as const, beam: 2, length_penalty: 1 };

describe("penalties", () => {
  it("are Wu's, or powers of the length", () => {
    expect(penalty(1, config)).toBe(1);
    expect(penalty(7, config)).toBe(2);
    expect(penalty(9, { ...config, penalty_kind: "power", length_penalty: 0.5 })).toBe(3);
    expect(penalty(9, { ...config, length_penalty: 0 })).toBe(1);
  });

  it("of coverage are the logarithms of what was read, at most once", () => {
    const read = extend(NOTHING, 5, -1, how(), [0.5, 2]);
    expect(covered(read, { ...config, coverage_penalty: 0 })).toBe(0);
    expect(covered(read, { ...config, coverage_penalty: 2 })).toBeCloseTo(2 * Math.log(0.5));
  });

  it("take the mean of the heads that are named, or of all", () => {
    const cross = Float32Array.of(0.2, 0.8, 0.6, 0.4); // one layer, two heads, two tokens
    const rounded = (heads: typeof config.coverage_heads) =>
      attentionPaid(cross, [1, 2], { ...config, coverage_heads: heads }, 2);
    expect(rounded(null)[0]).toBeCloseTo(0.4);
    expect(rounded([[0, 1]])[0]).toBeCloseTo(0.6);
    expect(() => rounded([[1, 0]])).toThrow("coverage_heads holds [1, 0]");
  });
});

describe("a beam of two", () => {
  const begun = () => new BeamSearch(config, EOS, 4, NOTHING);

  it("keeps the two best that live, and which they grew from", () => {
    const search = begun();
    search.grow(
      [
        [0, 5, -0.1],
        [0, 6, -0.5],
        [0, 7, -0.6],
      ],
      how,
    );
    search.grow(
      [
        [1, 8, -0.1],
        [0, 9, -0.7],
      ],
      how,
    );
    expect(search.live.map(({ ids }) => ids)).toEqual([
      [6, 8],
      [5, 9],
    ]);
    expect(search.parents).toEqual([1, 0]);
    expect(search.leader).toBe(1);
    expect(search.done).toBe(false);
  });

  it("ends once nothing that lives can push out what has ended", () => {
    const search = begun();
    search.grow(
      [
        [0, EOS, -0.1],
        [0, 5, -3],
        [0, 6, -4],
      ],
      how,
    );
    expect(search.done).toBe(false); // of two only one has ended
    search.grow(
      [
        [0, EOS, -0.1],
        [0, 7, -5],
        [1, 7, -6],
      ],
      how,
    );
    expect(search.done).toBe(true);
    expect(search.best()).toMatchObject({ ids: [EOS], truncated: false });
  });

  it("does not take an end that is not among its two best", () => {
    const search = begun();
    search.grow(
      [
        [0, 5, -0.1],
        [0, 6, -0.2],
        [0, EOS, -0.3],
      ],
      how,
    );
    expect(search.ended).toEqual([]);
  });

  it("cuts what reaches the limit, and says so", () => {
    const search = new BeamSearch(config, EOS, 1, NOTHING);
    search.grow(
      [
        [0, 5, -0.1],
        [0, 6, -0.2],
      ],
      how,
    );
    expect(search.best()).toMatchObject({ ids: [5], truncated: true });
    expect(search.done).toBe(true);
  });

  it("is made to end at the limit where the checkpoint asks for it", () => {
    const search = new BeamSearch({ ...config, force_eos: true }, EOS, 2, NOTHING);
    expect(search.onlyId).toBeNull();
    search.grow([[0, 5, -0.1]], how);
    expect(search.onlyId).toBe(EOS);
  });
});
