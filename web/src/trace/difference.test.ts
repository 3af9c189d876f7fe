import { describe, expect, it } from "vitest";
import { example } from "../test/example";
import { differenceOf, sameShape, wordsBeside } from "./difference";
import { type Slicing, slice } from "./picture";

const slicing: Slicing = { unit: "sub", specials: "shown" };
const picture = (id: string) => {
  const trace = example(id);
  return slice(trace, "encoder", trace.head("encoder", 0, 0), slicing);
};
const a = picture("de-en-in-den");
const b = picture("de-en-in-dem");

describe("the difference of two pictures", () => {
  it("is B without A, cell by cell, and nothing of one with itself", () => {
    const { z } = differenceOf(a, b)!;
    expect(z[1][2]).toBe(b.z[1][2] - a.z[1][2]);
    expect(
      differenceOf(a, a)!
        .z.flat()
        .every((weight) => weight === 0),
    ).toBe(true);
  });

  it("bears both names where they differ, and one where they do not", () => {
    const names = differenceOf(a, b)!.columns.map(({ text }) => text);
    const both = a.columns.map(({ text }, i) =>
      text === b.columns[i].text ? text : `${text} / ${b.columns[i].text}`,
    );
    expect(names).toEqual(both);
    expect(names.some((name) => name.includes(" / "))).toBe(true);
  });

  it("is none where the shapes differ", () => {
    const longer = picture("de-en-mother");
    expect(sameShape(a, longer)).toBe(false);
    expect(differenceOf(a, longer)).toBeNull();
  });
});

describe("words beside another translation's", () => {
  it("are its own where the other lacks them", () => {
    const [one, two] = [example("de-en-in-den"), example("de-en-in-dem")];
    const own = wordsBeside(one, two).filter((word) => word.own);
    const theirs = new Set(two.words!.tgt.s);
    expect(own.map(({ text }) => text)).toEqual(
      one.words!.tgt.s.filter((text) => !theirs.has(text)),
    );
    expect(own).not.toHaveLength(0);
    expect(wordsBeside(one, one).every(({ own }) => !own)).toBe(true);
  });
});
