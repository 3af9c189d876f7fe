import { describe, expect, it } from "vitest";
import { Spelling } from "./copying";
import { sourceNames } from "./names";

const PIECES = ["", "T", "To", "om", " Tom", "my", "年"];
const table = new Spelling(PIECES);
const id = (piece: string) => PIECES.indexOf(piece);
const named = (text: string) => sourceNames(table, text, (word) => word.length, 3);

describe("names of a source", () => {
  it("are its capitalised words of two tokens or more", () => {
    expect(named("tom")).toBeNull();
    expect(sourceNames(table, "Tom", () => 1, 3)).toBeNull();
    expect(sourceNames(table, "Tom", () => 2, 0)).toBeNull();
    expect(named("Tom, Tom and Zoë")!.missing([])).toBe(9);
    expect(named("Tom, Tom, Tom, Ann and Zoë")!.missing([])).toBeCloseTo(9);
  });

  it("are missing until they stand there, in part while they are spelt", () => {
    const names = named("Tom")!;
    expect(names.missing([id("To")])).toBeCloseTo(1);
    expect(names.unspelt([id("To")])).toBe(3);
    expect(names.missing([id("To"), id("年")])).toBe(3);
    expect(names.missing([id(" Tom"), id("年")])).toBe(0);
    expect(names.missing([id(" Tom"), id("my")])).toBe(3);
  });

  it("are begun or gone on with by a token, each in proportion to its letters", () => {
    const names = named("Tom")!;
    expect(new Map(names.gains([]))).toEqual(
      new Map([
        [id("T"), 1],
        [id("To"), 2],
        [id(" Tom"), 3],
      ]),
    );
    expect(names.gains([id("T")])).toEqual([[id("om"), 3]]);
    expect(names.gains([id("my")])).toEqual([[id(" Tom"), 3]]);
    expect(names.gains([id(" Tom")])).toEqual([]);
  });
});
