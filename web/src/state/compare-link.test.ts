import { expect, it } from "vitest";
import { example } from "../test/example";
import { comparisonInLink, comparisonLink } from "./compare-link";

const traces = { a: example("en-zh-tired"), b: example("en-zh-wide") };

it("brings a comparison back", () => {
  const view = { kind: "encoder", layer: 2, head: 5, step: 7, unit: "word" } as const;
  const found = comparisonInLink(new URL(comparisonLink(traces, view)).hash)!;
  expect(found.view).toEqual(view);
  expect(found.a).toEqual({
    text: traces.a.source,
    direction: "en-zh",
    method: "automatic",
  });
  expect(found.b.text).toBe(traces.b.source);
});

it("that asks for what cannot be is left at the first of all", () => {
  const found = comparisonInLink("#compare=1&a=x&b=y&k=none&l=-4&h=abc&s=&u=letter&am=magic")!;
  expect(found.view).toEqual({ kind: "cross", layer: 0, head: 0, step: 0, unit: "sub" });
  expect(found.a.method).toBe("automatic");
});

it("without both sentences is none", () => {
  expect(comparisonInLink("#compare=1&a=x")).toBeNull();
  expect(comparisonInLink("#t=x&l=2")).toBeNull();
});
