/* Pictures for export that are no Plotly figures: all heads, the candidates, arcs. */

import { type Colour, lookup, rgb } from "../../design/colour";
import { svgEl } from "../../dom/element";
import { clamp } from "../../format/number";
import { cut } from "../../format/text";
import { t } from "../../i18n/words";
import { enlarged } from "../../plot/cells";
import { tileImages } from "../../plot/tiles";
import type { View } from "../../state/view";
import { type Weighed, candidatesOf } from "../../trace/candidates";
import { kindName, namedModel } from "../../trace/names";
import type { Translation } from "../../trace/translation";
import { PAPER, type Paper, paper } from "./paper";

const TILE = 96; // pixels, as all that follow
const GAP = 6;
const STEP = TILE + GAP;
const LEFT = 36;
const TOP = 64;

const here = (on: boolean): string => (on ? PAPER.here : PAPER.third);

/** The colours from 0 to 1 and what they stand for. */
const drawScale = (page: Paper, table: Colour[], y: number, name: string): void => {
  for (let i = 0; i < 60; i++)
    page.root.append(
      svgEl("rect", {
        x: LEFT + 14 + 2 * i,
        y: y - 8,
        width: 2.5,
        height: 8,
        fill: rgb(table[Math.round((256 * i) / 59)]),
      }),
    );
  const fill = { fill: PAPER.third };
  page.write("0", LEFT, y, fill);
  page.write("1", LEFT + 140, y, fill);
  page.write(name, LEFT + 156, y, fill);
};

const drawNames = (page: Paper, layers: number, heads: number, { layer, head }: View): void => {
  for (let h = 0; h < heads; h++)
    page.write("H" + (h + 1), LEFT + h * STEP + TILE / 2, TOP - 6, {
      "text-anchor": "middle",
      fill: here(h === head),
    });
  for (let l = 0; l < layers; l++)
    page.write("L" + (l + 1), LEFT - 8, TOP + l * STEP + TILE / 2 + 4, {
      "text-anchor": "end",
      fill: here(l === layer),
    });
};

/**
 * All heads of the present kind: one picture a tile (a cell stays one colour), names and legend as
 * text.
 */
export const mosaicSvg = (trace: Translation, state: View, scaleName: string): string => {
  const { kind, scale, palette } = state;
  const { layers, heads } = trace.maps[kind];
  const table = lookup(palette, scale === "root", "light");
  const width = LEFT + heads * STEP + 10;
  const height = TOP + layers * STEP + 40;
  const page = paper(width, height);
  const title = `${namedModel(trace)} · ${kindName(kind)}`;
  page.write(title, LEFT, 24, { "font-size": 16, "font-weight": 600 });
  page.write(cut(trace.source, Math.floor(width / 9)), LEFT, 42, { fill: PAPER.third });
  drawNames(page, layers, heads, state);
  const tiles = tileImages(trace, kind, table, 512, scale);
  const draw = (l: number, h: number) => {
    const place = { x: LEFT + h * STEP, y: TOP + l * STEP, width: TILE, height: TILE };
    const on = l === state.layer && h === state.head;
    const image = svgEl("image", {
      ...place,
      preserveAspectRatio: "none",
      style: "image-rendering:pixelated",
      href: enlarged(tiles, h, l, 2 * TILE),
    });
    const edge = { stroke: on ? PAPER.here : PAPER.line, "stroke-width": on ? 2 : 1 };
    page.root.append(image, svgEl("rect", { ...place, fill: "none", ...edge }));
  };
  for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) draw(l, h);
  drawScale(page, table, height - 16, scaleName);
  return page.text();
};

const drawCandidate = (page: Paper, { s, p, chosen, rest }: Weighed, y: number): void => {
  const weight = chosen ? 600 : 400;
  const fill = rest ? PAPER.third : PAPER.ink;
  const bar = { x: 160, y: y + 3, height: 14 };
  const colour = chosen ? PAPER.here : PAPER.bar;
  page.write(cut(s, 18), 16, y + 14, { "font-weight": weight, fill });
  page.root.append(
    svgEl("rect", { ...bar, width: 250, fill: PAPER.track }),
    svgEl("rect", { ...bar, width: 250 * clamp(p, 0, 1), fill: colour }),
  );
  page.write(p.toFixed(4), 464, y + 14, { "text-anchor": "end", "font-weight": weight });
};

/** What the model weighed up at a step. */
export const candidatesSvg = (trace: Translation, step: number): string => {
  const items = candidatesOf(trace, step, 8);
  const page = paper(480, 64 + 26 * items.length);
  const title = `${t("Candidates")} ${t("at step {n}", { n: step + 1 })}`;
  const reads = `${t("query (reads)")}: ${trace.reads[step].s}`;
  const predicts = `${t("predicts")}: ${trace.tgt[step].s}`;
  page.write(title, 16, 24, { "font-size": 16, "font-weight": 600 });
  page.write(`${reads} · ${predicts}`, 16, 42, { fill: PAPER.third });
  items.forEach((each, n) => drawCandidate(page, each, 56 + 26 * n));
  return page.text();
};

const ARCS = [
  `text{font-family:sans-serif;fill:${PAPER.ink}}`,
  `.axis-name,.special{fill:${PAPER.third}}.axis-name{font-size:12px}`,
  `.now{fill:${PAPER.here};font-weight:600}`,
].join("");

/** Arcs as they are on the page, on white and with their styles inside. */
export const arcsSvg = (shown: SVGSVGElement): string => {
  const copy = shown.cloneNode(true) as SVGSVGElement;
  const style = svgEl("style", {}, ARCS);
  copy.prepend(style, svgEl("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
};
