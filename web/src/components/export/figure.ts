/* The large map as a picture of its own, whole and on the light scale. */

import { type HeatView, heatFigure } from "../../plot/heat";
import { measureMap, whole } from "../../plot/measure";
import { type Figure, PLOT_CONFIG } from "../../plot/plotly";
import type { View } from "../../state/view";
import type { Picture } from "../../trace/picture";

const WIDTH = 1200; // pixels that the cells may take
const HEIGHT = 900;
const SCALE = 88; // pixels beside the map for the scale and its name

const viewOf = (picture: Picture, { kind, scale, palette, labels, numbers }: View): HeatView => {
  const names = { labels: kind === "encoder" ? 120 : 190, top: 100, small: false };
  const size = whole(measureMap(WIDTH, HEIGHT, picture, names), picture);
  size.right = Math.max(SCALE, size.right); // the scale, and what the caption needs of its place
  return {
    size,
    scale,
    palette,
    labels,
    numbers,
    small: false,
    theme: "light",
    paper: "#ffffff",
    width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right + 2),
    height: Math.ceil(size.top + size.cellHeight * size.rows + 20),
    range: { x: [-0.5, size.columns - 0.5], y: [size.rows - 0.5, -0.5] },
  };
};

const withScale = (figure: Figure, name: string): Figure => {
  Object.assign(figure.data[0], {
    showscale: true,
    colorbar: {
      thickness: 10,
      len: 1,
      outlinewidth: 0,
      title: { text: name, side: "right", font: { size: 12 } },
    },
  });
  figure.layout.margin.b = 18;
  return figure;
};

/** The large map as SVG. */
export const mapSvg = async (picture: Picture, state: View, scaleName: string): Promise<string> => {
  const view = viewOf(picture, state);
  const figure = withScale(heatFigure(picture, state.kind, view), scaleName);
  const { width, height } = view;
  const address = await window.Plotly!.toImage(
    { ...figure, config: PLOT_CONFIG },
    { format: "svg", width, height },
  );
  return decodeURIComponent(address.slice(address.indexOf(",") + 1));
};
