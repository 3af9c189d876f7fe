/* In place of plotly.js, for tests: it lays each cell out as ten pixels by ten, and remembers what
   it was given. */

import type { Figure, PlotNode, PlotlyApi } from "../plot/plotly";

export const CELL = 10;

const axis = () => ({
  ...{ _offset: 0, _length: 100, range: [0, 1] as [number, number] },
  l2p: (place: number) => place * CELL,
  p2l: (pixel: number) => pixel / CELL,
});

/** The figures that were drawn, by their elements; a picture of one is its own title. */
export const sketchPlotly = (): Map<Element, Figure> => {
  const drawn = new Map<Element, Figure>();
  window.Plotly = {
    react: async (node: PlotNode, data: Figure["data"], layout: Figure["layout"]) => {
      drawn.set(node, { data, layout });
      node.on ??= () => undefined;
      node._fullLayout = { xaxis: axis(), yaxis: axis() };
      return node;
    },
    toImage: async () => `data:image/svg+xml,${encodeURIComponent("<svg><g/></svg>")}`,
  } as unknown as PlotlyApi;
  return drawn;
};
