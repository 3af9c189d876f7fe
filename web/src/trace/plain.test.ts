import { expect, it } from "vitest";
import { KINDS } from "../protocol/messages";
import { example } from "../test/example";
import { plainTrace } from "./plain";

it("a translation as plain arrays has each head's map, row by row", () => {
  const trace = example();
  const plain = plainTrace(trace) as Record<string, number[][][][]>;
  for (const kind of KINDS) {
    const { rows, columns } = trace.maps[kind];
    const map = trace.head(kind, 1, 2);
    expect(plain[kind][1][2]).toHaveLength(rows);
    plain[kind][1][2].forEach((row, i) =>
      expect(row).toEqual(Array.from(map.subarray(i * columns, (i + 1) * columns))),
    );
  }
  expect(plain).toMatchObject({ source: trace.source, translation: trace.translation });
});

it("while nothing is whole there is none", () => {
  expect(plainTrace(null)).toBeNull();
});
