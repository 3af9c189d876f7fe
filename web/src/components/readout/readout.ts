/* The read-out under the large map, and the legend of its colours. */

import { paintBar } from "../../design/colour";
import { write } from "../../dom/element";
import { t, tParts } from "../../i18n/words";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import type { View } from "../../state/view";
import { makeWhyHere } from "./why-here";

type Needs = Pick<ExplorerContext, "find" | "state" | "trace" | "colours" | "picture" | "rowIndex">;
type Nodes = (Node | string)[];

const scaleName = ({ scale, view, aggregate }: View): string => {
  const contributed = view === "aggregate" && aggregate === "alti";
  if (contributed && scale !== "row")
    return scale === "linear" ? t("contribution") : t("contribution, square root");
  if (scale === "linear") return t("attention weight");
  return scale === "root"
    ? t("attention weight, square root")
    : t("share of the row's largest weight");
};

/** A sentence about the cell that is pointed at, or about the strongest of the present row. */
const sentence = (x: Needs): Nodes => {
  const picture = x.picture();
  const { hover, kind } = x.state;
  const i = hover ? hover.i : x.rowIndex(picture);
  const values = picture.z[i];
  const j = hover ? hover.j : values ? values.indexOf(Math.max(...values)) : -1;
  if (!values || !picture.columns[j]) return [];
  const row = picture.rows[i];
  const words = {
    reads: row.reads ?? row.text,
    predicts: row.predicts ?? "",
    key: picture.columns[j].text,
    weight: values[j].toFixed(hover ? 4 : 2),
  };
  if (picture.masked(i, j))
    return tParts("{reads} cannot look at {key}: it is not written yet", words);
  return kind === "encoder"
    ? tParts("{reads} looks at {key} {weight}", words)
    : tParts("reads {reads}, predicts {predicts}, looks at {key} {weight}", words);
};

export const makeReadout = (x: Needs): Part & { say: (nodes: Nodes | null) => void } => {
  const out = x.find(".readout");
  const bar = x.find<HTMLCanvasElement>(".scale canvas");
  let said: Nodes | null = null;
  const legend = () => {
    const table = x.colours();
    paintBar(bar, (at) => table[Math.round(256 * at)]);
    x.find(".scale-name").textContent = scaleName(x.state);
  };
  const scale = x.find(".scale");
  const whyHere = makeWhyHere(x);
  const paint = (changed: Changed) => {
    scale.hidden = x.state.view === "arcs" && x.state.overlay.length > 0; // colours are heads there
    if (["colours", "trace", "language", "scale", "view", "map"].some((name) => changed.has(name)))
      legend();
    if (!said) write(out, ...sentence(x));
    whyHere();
  };
  const say = (nodes: Nodes | null) => {
    said = nodes;
    if (nodes) write(out, ...nodes);
    else if (x.trace) paint(new Set());
  };
  return {
    needs:
      "trace kind map step query hover cell unit specials scale colours language view overlay".split(
        " ",
      ),
    paint,
    say,
  };
};
