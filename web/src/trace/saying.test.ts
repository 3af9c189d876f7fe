import { expect, it } from "vitest";
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
      picture([
        [1, 0],
        [0, 1],
      ]),
      7,
      "cross",
    ),
  ).toBeNull());
