import { describe, expect, it } from "vitest";
import type { Picture } from "./picture";
import { lookedAt, sentenceOf } from "./saying";

const group = (id: number, text: string, more = {}) => ({
  ids: [id],
  text,
  special: false,
  unknown: false,
  ...more,
});
const picture = (z: number[][], masked: Picture["masked"] = () => false): Picture => ({
  rows: [
    group(0, "在", { reads: "<s>", predicts: "在" }),
    group(1, "医院", { reads: "在", predicts: "医院" }),
  ],
  columns: [group(0, "in"), group(1, "hospital")],
  z,
  masked,
  hidden: 0,
});

it("names the source that a cross head looked at when it wrote a token", () => {
  const found = lookedAt(
    {},
    picture([
      [0.9, 0.1],
      [0.2, 0.8],
    ]),
    1,
    "cross",
  );
  expect(found).toMatchObject({ predicts: "医院", key: "hospital" });
  expect(sentenceOf(found!)).toBe("When it wrote {predicts}, this head looked at {key}");
  expect(sentenceOf({ ...found!, reading: "input" })).toContain("Having written {reads}");
});

it("never says that a masked cell was looked at", () => {
  const found = lookedAt(
    {},
    picture(
      [
        [0, 0],
        [0.2, 0.8],
      ],
      (i, j) => j > i,
    ),
    0,
    "decoder",
  );
  expect(found).toMatchObject({ key: "in", itself: true });
});

it("says nothing of a row that is not there", () =>
  expect(
    lookedAt(
      {},
      picture([
        [1, 0],
        [0, 1],
      ]),
      7,
      "cross",
    ),
  ).toBeNull());

describe("pieces of words", () => {
  const [neighb, our, house] = [group(0, "neighb"), group(1, "our"), group(2, "house")];
  const [src, words] = [
    { g: [0, 0, 1], s: ["neighbour", "house"] },
    { g: [0, 1, 1, 2], s: [] },
  ];
  const tgt = { g: [0, 0, 1, 2], s: ["邻居们", "家", "</s>"] };
  const trace = { words: { src, reads: { ...words, s: ["<s>", "邻居们", "家"] }, tgt } };
  const told = (rows: Picture["rows"], kind: "encoder" | "decoder" | "cross", best: number) =>
    lookedAt(
      trace,
      {
        ...picture([[0, 1, 2].map((j) => Number(j === best))]),
        rows,
        columns: [neighb, our, house],
      },
      0,
      kind,
    );

  it("looks at a whole word of what was typed", () => {
    const found = told([group(2, "家", { reads: "们", predicts: "家" })], "cross", 1);
    expect(found).toMatchObject({ predicts: "家", reads: "们 (part of 邻居们)", key: "neighbour" });
  });
  it("tells the parts of one word apart", () => {
    expect(told([our], "encoder", 0)).toMatchObject({
      reads: "our (part of neighbour)",
      key: "neighb",
    });
    expect(told([house], "encoder", 0)).toMatchObject({ reads: "house", key: "neighbour" });
  });
  it("looks back at the part that the same word began with", () => {
    const columns = [group(0, "<s>"), group(1, "邻居"), group(2, "们")];
    const rows = [group(1, "邻居", { reads: "邻居", predicts: "们" })];
    const found = lookedAt(trace, { ...picture([[0, 1, 0]]), rows, columns }, 0, "decoder");
    expect(found).toMatchObject({ predicts: "们 (part of 邻居们)", key: "邻居", itself: true });
  });
  it("is the word itself where pieces are joined", () => {
    const whole = { ...group(0, "neighbour"), ids: [0, 1] };
    const shown = { ...picture([[0, 1]]), rows: [whole], columns: [whole, house] };
    expect(lookedAt(trace, shown, 0, "encoder")).toMatchObject({
      reads: "neighbour",
      key: "house",
    });
  });
});

it("puts a mark in quotes", () => {
  const rows = [group(0, "，", { reads: "<s>", predicts: "，" })];
  const found = lookedAt({}, { ...picture([[1]]), rows, columns: [group(0, ",")] }, 0, "cross");
  expect(found).toMatchObject({ reads: "<s>", predicts: "“，”", key: "“,”" });
});

it.each(["”", "“", '"', "„", "»"])("does not put quotes around the quote %s", (mark) => {
  const rows = [group(0, mark, { reads: mark, predicts: mark })];
  const seen = { ...picture([[1]]), rows, columns: [group(0, mark)] };
  expect(lookedAt({}, seen, 0, "cross")).toMatchObject({ reads: mark, predicts: mark, key: mark });
});
