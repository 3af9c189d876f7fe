import { describe, expect, it } from "vitest";
import type { Beam } from "./decode/steps";
import {
  candidatesFigure,
  confidenceFigure,
  mapFigure,
  treeFigure,
  type FiguresFile,
  type HeadMap,
} from "./figures";
import type { Thought } from "./trace";

/** Both themes of a figure, told apart by a colour; the rest is what Python left in it. */
const themes = (traces: number, color?: string[]) => {
  const drawn = (theme: string) => ({
    data: Array.from({ length: traces }, (_, at) => ({
      type: `trace ${at}`,
      marker: { color: color?.map((each) => `${theme} ${each}`) },
    })),
    layout: {
      title: theme,
      xaxis: { side: "top" },
      yaxis: { side: "left" },
      yaxis2: { side: "right" },
    },
  });
  return { light: drawn("light"), dark: drawn("dark") };
};
const FILE: FiguresFile = {
  candidates: themes(1, ["own", "other", "rest"]),
  confidence: themes(2),
  tree: themes(3, ["own", "other"]),
  map: themes(1),
  map_predicting: themes(2),
};
const surface = (id: number) => `<${id}>`;
/** What a figure says, as far as it is looked at here. */
interface Part {
  type: string;
  x: unknown[];
  y: unknown[];
  z: unknown[];
  text: string[];
  customdata: unknown[][];
  marker: { color: string[]; symbol: string[] };
  ticktext: string[];
  range: number[];
}
interface Read {
  data: [Part, Part, Part];
  layout: Record<"xaxis" | "yaxis" | "yaxis2", Part>;
}
const read = (figure: string) => {
  const { light, dark } = JSON.parse(figure) as { light: Read; dark: [[string[], Part[]]] };
  return { ...light, dark };
};

describe("the likeliest tokens of a step", () => {
  const candidates = [
    [5, Math.log(0.5)],
    [6, Math.log(0.25)],
  ] as const;
  const { data, layout, dark } = read(
    candidatesFigure(FILE, { candidates } as unknown as Thought, 6, surface),
  );
  it("are bars of their probabilities, and all others are the rest", () => {
    expect(data[0].x).toEqual([0.5, 0.25, 0.25].map((p) => expect.closeTo(p, 9)));
    expect(data[0].text).toEqual(["0.50", "0.25", "0.25"]);
    expect(data[0].type).toBe("trace 0");
  });
  it("are named on an axis that runs down, escaped", () => {
    expect(layout.yaxis).toMatchObject({ side: "left", tickvals: [0, 1, 2], range: [2.5, -0.5] });
    expect(layout.yaxis.ticktext).toEqual(["&lt;5&gt;", "&lt;6&gt;", "all others"]);
  });
  it("stand out where they are the one that is produced, in both themes", () => {
    expect(data[0].marker.color).toEqual(["light other", "light own", "light rest"]);
    const [[place, changed]] = dark;
    expect(place).toEqual(["data"]);
    expect(changed[0].marker.color).toEqual(["dark other", "dark own", "dark rest"]);
  });
});

it("probability and entropy stand over the tokens", () => {
  const thoughts = [0.5, 2].map((entropy) => ({ entropy, logProb: -entropy })) as Thought[];
  const { data, layout } = read(confidenceFigure(FILE, thoughts, ["a", "b"]));
  expect(data.map(({ x }) => x)).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect(data[0].y).toEqual([Math.exp(-0.5), Math.exp(-2)]);
  expect(data[1].y).toEqual([0.5, 2]);
  expect(layout.yaxis2).toEqual({ side: "right", range: [0, 2.1] });
  expect(layout.xaxis.ticktext).toEqual(["a", "b"]);
});

describe("the tree of a search", () => {
  const beam = (ids: number[], parent: number, normalised: number, ended = false) =>
    ({ ids, parent, normalised, score: -9 - normalised, ended }) as Beam;
  const steps = [
    [beam([7], 0, -2), beam([8], 0, -1)],
    [beam([8, 1], 1, -1), beam([7, 2], 0, -3, true)],
  ];
  const { data, layout } = read(treeFigure(FILE, steps, [7, 2], surface));
  const [others, path, dots] = data;
  it("has a point for each hypothesis, the best on top", () => {
    expect([dots.x, dots.y]).toEqual([
      [0, 0, 1, 1],
      [1, 0, 0, 1],
    ]);
    expect(dots.marker.symbol).toEqual(["circle", "circle", "circle", "square"]);
    expect(dots.customdata[3]).toEqual(["&lt;7&gt; &lt;2&gt;", -6, -3]);
  });
  it("joins each to the one that it goes on from, the winner's path by itself", () => {
    expect([path.x, path.y]).toEqual([
      [-1, 0, null, 0, 1, null],
      [0, 1, null, 1, 1, null],
    ]);
    expect([others.x, others.y]).toEqual([
      [-1, 0, null, 0, 1, null],
      [0, 0, null, 0, 0, null],
    ]);
    expect(dots.marker.color).toEqual(["light own", "light other", "light other", "light own"]);
  });
  it("counts its steps from 1", () => expect(layout.xaxis.ticktext).toEqual(["1", "2"]));
});

describe("a head's map", () => {
  const map: HeadMap = {
    weights: [
      [1, null],
      [0.25, 0.75],
    ],
    queries: ["a", "b"],
    keys: ["<s>", "a"],
    predicts: null,
  };
  it("names each row and column, and tells no weight in the future", () => {
    const { data, layout } = read(mapFigure(FILE, map));
    expect(data).toHaveLength(1);
    expect(data[0].z).toEqual(map.weights);
    expect(data[0].customdata[0][1]).toEqual(["a", "a", 0]);
    expect(data[0].customdata[1][0]).toEqual(["b", "&lt;s&gt;", 0.25]);
    expect(layout.yaxis.range).toEqual([1.5, -0.5]);
    expect(layout.yaxis2).toEqual({ side: "right" });
  });
  it("names what its rows predict where that is known", () => {
    const { data, layout } = read(mapFigure(FILE, { ...map, predicts: ["b", "c"] }));
    expect(data).toHaveLength(2);
    expect(layout.yaxis2).toMatchObject({ side: "right", ticktext: ["b", "c"] });
  });
});
