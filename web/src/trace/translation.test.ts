import { describe, expect, it } from "vitest";
import type { Place } from "../protocol/messages";
import { EXAMPLES, example, payload } from "../test/example";
import { Translation } from "./translation";

describe("a translation", () => {
  it.each(EXAMPLES.slice(0, 4))("%s has rows of weights that sum to 1", (id) => {
    const trace = example(id);
    for (const kind of trace.kinds) {
      const { rows, columns } = trace.maps[kind];
      const map = trace.head(kind, 0, 0);
      for (let i = 0; i < rows; i++) {
        const sum = map.subarray(i * columns, (i + 1) * columns).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(1, 3); // four decimals were sent
      }
    }
  });

  it("has no weight on the future", () => {
    const { columns } = example().maps.decoder;
    const map = example().head("decoder", 1, 1);
    const ahead = map.filter((_, at) => at % columns > Math.floor(at / columns));
    expect(ahead.every((weight) => weight === 0)).toBe(true);
  });

  it("reads the start first, then all that it wrote but the last", () => {
    const { reads, start, tgt, src } = example();
    expect(reads).toEqual([start, ...tgt.slice(0, -1)]);
    expect(example().queries("encoder")).toEqual(src);
    expect(example().queries("cross")).toEqual(reads);
    expect(example().keys("decoder")).toEqual(reads);
    expect(example().keys("cross")).toEqual(src);
  });

  it("joins heads by their mean or their largest weights", () => {
    const trace = example();
    const [one, two] = [trace.head("cross", 0, 0), trace.head("cross", 1, 3)];
    const chosen: Place[] = [
      [0, 0],
      [1, 3],
    ];
    const [mean, most] = ["mean", "max"].map((how) => trace.combined("cross", chosen, how));
    expect(mean[4]).toBeCloseTo((one[4] + two[4]) / 2, 6);
    expect(most[4]).toBe(Math.max(one[4], two[4]));
  });

  it("knows of each head what its table says, and its row of a step or a query", () => {
    const trace = example();
    const { heads } = trace.maps.cross;
    expect(trace.stats("cross", 1, 2)!.role).toBe(trace.heads!.cross.role[heads + 2]);
    expect(trace.rowOf("encoder", { query: 3, step: 1 })).toBe(3);
    expect(trace.rowOf("cross", { query: 3, step: 1 })).toBe(1);
  });

  it("has only the kinds of attention that were sent", () => {
    const trace = new Translation({ ...payload(), kinds: ["cross"] });
    expect(Object.keys(trace.maps)).toEqual(["cross"]);
  });
});
