/* The lab's figures: translator/figures/decoding.py. Python drew them with one step of two tokens;
   the rest comes in. */

import type { Beam } from "./decode/steps";
import { label } from "./messages/label";
import type { Thought } from "./trace";

type Part = Record<string, unknown>;

interface Figure {
  data: Part[];
  layout: Part;
}

interface Themes {
  light: Figure;
  dark: Figure;
}

/**
 * What `translator.ui.live.lab_figures` writes; the first of its two tokens is the one that is
 * produced.
 */
export interface FiguresFile {
  candidates: Themes;
  confidence: Themes;
  tree: Themes;
  map: Themes;
  /** With the tokens that its rows predict. */
  map_predicting: Themes;
}

/** One head's map [Q][K] and its tokens; null: a cell in the future. */
export interface HeadMap {
  weights: (number | null)[][];
  queries: readonly string[];
  keys: readonly string[];
  predicts: readonly string[] | null;
}

/** A token's text by its id. */
type Surface = (id: number) => string;

/** The likeliest tokens of a step; the produced one stands out. */
export function candidatesFigure(
  { candidates: drawn }: FiguresFile,
  { candidates }: Thought,
  produced: number,
  surface: Surface,
): string {
  const probs = candidates.map(([, logProb]) => Math.exp(logProb));
  const bars = [...probs, Math.max(0, 1 - probs.reduce((a, b) => a + b, 0))];
  const names = [...candidates.map(([id]) => surface(id)), "all others"];
  return shown(drawn, ({ data: [bar], layout }) => {
    const [own, other, rest] = coloursOf(bar!);
    const colours = candidates.map(([id]) => (id === produced ? own : other));
    const text = bars.map((value) => value.toFixed(2));
    const places = { x: bars, y: bars.map((_, at) => at), text, customdata: labels(names) };
    return {
      data: [{ ...bar, ...places, marker: { color: [...colours, rest] } }],
      layout: { ...layout, yaxis: tokenAxis(layout.yaxis as Part, names, true) },
    };
  });
}

/** Probability and entropy of every token. */
export function confidenceFigure(
  { confidence }: FiguresFile,
  thoughts: readonly Thought[],
  names: readonly string[],
): string {
  const x = names.map((_, at) => at);
  const entropies = thoughts.map(({ entropy }) => entropy);
  const probabilities = thoughts.map(({ logProb }) => Math.exp(logProb));
  const range = [0, Math.max(...entropies, 0.1) * 1.05];
  return shown(confidence, ({ data: [bar, line], layout }) => ({
    data: [
      { ...bar, x, y: probabilities, customdata: labels(names) },
      { ...line, x, y: entropies, customdata: labels(names) },
    ],
    layout: {
      ...layout,
      xaxis: tokenAxis(layout.xaxis as Part, names),
      yaxis2: { ...(layout.yaxis2 as Part), range },
    },
  }));
}

/**
 * Every hypothesis of a beam search: steps to the right, the best at the top; the winner's path is
 * bold.
 */
export function treeFigure(
  { tree }: FiguresFile,
  steps: readonly (readonly Beam[])[],
  winner: readonly number[],
  surface: Surface,
): string {
  const places = steps.map(ranks);
  const leads = ({ ids }: Beam) => ids.every((id, at) => winner[at] === id);
  const nodes = steps.flatMap((beams, step) => beams.map((beam, at) => ({ beam, step, at })));
  const edges = (onPath: boolean) => {
    const [x, y]: (number | null)[][] = [[], []];
    for (const { beam, step, at } of nodes) {
      if (leads(beam) !== onPath) continue;
      x!.push(step - 1, step, null);
      y!.push(step ? places[step - 1]![beam.parent]! : 0, places[step]![at]!, null);
    }
    return { x, y };
  };
  return shown(tree, ({ data: [others, path, dots], layout }) => {
    const [own, other] = coloursOf(dots!);
    const points = {
      x: nodes.map(({ step }) => step),
      y: nodes.map(({ step, at }) => places[step]![at]!),
      marker: {
        color: nodes.map(({ beam }) => (leads(beam) ? own : other)),
        size: nodes.map(({ beam }) => (beam.ended ? 10 : 6)),
        symbol: nodes.map(({ beam }) => (beam.ended ? "square" : "circle")),
      },
      text: nodes.map(({ beam }) => label(surface(beam.ids.at(-1)!))),
      textposition: nodes.map(({ step }) => (step % 2 ? "bottom center" : "top center")),
      customdata: nodes.map(({ beam: { ids, score, normalised } }) => [
        labels(ids.map(surface)).join(" "),
        score,
        normalised,
      ]),
    };
    const ticks = {
      range: [-1.4, steps.length - 0.3],
      tickvals: steps.map((_, at) => at),
      ticktext: steps.map((_, at) => String(at + 1)),
    };
    return {
      data: [
        { ...others, ...edges(false) },
        { ...path, ...edges(true) },
        { ...dots, ...points },
      ],
      layout: { ...layout, xaxis: { ...(layout.xaxis as Part), ...ticks } },
    };
  });
}

/** One head in full: each row is a query and how it spreads over the keys. */
export function mapFigure(
  { map, map_predicting }: FiguresFile,
  { weights, queries, keys, predicts }: HeadMap,
): string {
  const [rows, columns] = [labels(queries), labels(keys)];
  const customdata = weights.map((row, i) =>
    row.map((each, j) => [rows[i], columns[j], each ?? 0]),
  );
  return shown(predicts ? map_predicting : map, ({ data: [heat, ...others], layout }) => ({
    data: [{ ...heat, z: weights, customdata }, ...others],
    layout: {
      ...layout,
      xaxis: tokenAxis(layout.xaxis as Part, keys),
      yaxis: tokenAxis(layout.yaxis as Part, queries, true),
      ...(predicts && { yaxis2: tokenAxis(layout.yaxis2 as Part, predicts, true) }),
    },
  }));
}

/** The rank of each by its normalised score, 0 the best. */
function ranks(beams: readonly Beam[]): number[] {
  const order = beams.map((_, at) => at);
  order.sort((a, b) => beams[b]!.normalised - beams[a]!.normalised);
  return beams.map((_, at) => order.indexOf(at));
}

/** As `translator.ui.explorer.show` gives a figure. */
function shown({ light, dark }: Themes, fill: (drawn: Figure) => Figure): string {
  const { data, layout } = fill(dark);
  return JSON.stringify({
    light: fill(light),
    dark: [
      [["data"], data],
      [["layout"], layout],
    ],
  });
}

function coloursOf({ marker }: Part): string[] {
  return (marker as { color: string[] }).color;
}

/** `token_axis`. */
function tokenAxis(axis: Part, names: readonly string[], down = false): Part {
  const [first, last] = [-0.5, names.length - 0.5];
  const tickvals = names.map((_, at) => at);
  const ticktext = names.map((name) => label(name));
  return { ...axis, tickvals, ticktext, range: down ? [last, first] : [first, last] };
}

const labels = (names: readonly string[]): string[] => names.map((name) => label(name, null));
