import { expect, it } from "vitest";
import { csvOfAnswer, jsonOfAnswer, unpacked } from "./numbers";

const packed = (values: number[]) =>
  btoa(String.fromCharCode(...new Uint8Array(new Float64Array(values).buffer)));
const figure = {
  data: [{ type: "heatmap", z: { dtype: "f8", bdata: packed([1, -0.5, 2, 4]), shape: "2, 2" } }],
  layout: { xaxis: { ticktext: ["a", "b,c"] }, yaxis: { ticktext: ["L1", "L2"] } },
};
const answer = {
  figures: [JSON.stringify({ light: figure, dark: [] })],
  captions: ["Heads"],
  table: { head: ["part", "share"], rows: [["bias", "0.25"]] },
};

it("arrays are read as Python packed them", () => {
  expect(unpacked(figure).data[0].z).toEqual([
    [1, -0.5],
    [2, 4],
  ]);
  expect(unpacked({ y: { dtype: "f8", bdata: packed([1, 2]) } }).y).toEqual([1, 2]);
});

it("a table is the table and each figure's numbers", () => {
  const rows = csvOfAnswer(answer).slice(1).trimEnd().split("\r\n");
  expect(rows).toEqual(["part,share", "bias,0.25", "", "Heads", ',a,"b,c"', "L1,1,-0.5", "L2,2,4"]);
});

it("bars go by their names", () => {
  const data = [{ type: "bar", orientation: "h", x: [0.5], y: [0] }];
  const bars = JSON.stringify({
    light: { data, layout: { yaxis: { ticktext: ["H1"] } } },
    dark: [],
  });
  expect(csvOfAnswer({ figures: [bars] })).toContain(",H1,0.5");
});

it("JSON has what was asked and what was answered", () => {
  const asked = { view: "why", options: { layer: 1 }, text: "x", target: null, direction: "de-en" };
  expect(JSON.parse(jsonOfAnswer(asked, answer))).toMatchObject({ ...asked, table: answer.table });
});
