/* What an explorer consists of, in the order in which it is painted. */

import { makeArcs } from "../../components/arcs/arcs";
import { makeChips } from "../../components/chips/chips";
import { makeExports } from "../../components/export/export";
import { makeGloss } from "../../components/gloss/gloss";
import { makeHeadline } from "../../components/headline/headline";
import { makeHealth } from "../../components/health/health";
import { makeHeatmap } from "../../components/heatmap/heatmap";
import { makeMore } from "../../components/more/more";
import { makeMosaic } from "../../components/mosaic/mosaic";
import { makePresent } from "../../components/present/present";
import { makeReadout } from "../../components/readout/readout";
import { makeSide } from "../../components/side/side";
import { makeSteps } from "../../components/steps/steps";
import { makeTour } from "../../components/tour/tour";
import type { ExplorerServer } from "../../protocol/server";
import type { ExplorerContext, Part } from "../../state/context";
import { makeLater } from "./later";

/** An explorer, as each of its parts knows it. */
type Whole = ExplorerContext &
  Parameters<typeof makeExports>[0] &
  Parameters<typeof makeHealth>[0] &
  Parameters<typeof makeLater>[0];

export type Parts = ReturnType<typeof makeParts>;

export const makeParts = (x: Whole, server: ExplorerServer | null) => {
  const readout = makeReadout(x);
  const steps = makeSteps(x);
  const heatmap = makeHeatmap(x);
  const arcs = makeArcs(x);
  const chips = makeChips(x);
  const painted: Part[] = [
    makePresent(x), // whoever measures comes after it
    chips,
    makeGloss(x),
    steps,
    makeHeadline(x),
    makeMore(x),
    makeSide(x),
    makeMosaic(x), // it measures: once what may move it is written
    readout,
    heatmap, // it scrolls, which lays the page out: once all the rest is written
    chips.following,
    arcs,
    makeLater(x, server),
    makeTour(x),
  ];
  const health = makeHealth(x);
  const exports = makeExports(x, { server, arcs: arcs.svg });
  return { readout, steps, heatmap, painted, health, exports };
};
