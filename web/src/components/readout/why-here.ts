/* What asks the lab about a cell of the map: the one that was clicked, tapped or chosen by
   Enter. */

import { label, write } from "../../dom/element";
import { t } from "../../i18n/words";
import { askWhyHere, labAnswers } from "../../state/ask";
import type { ExplorerContext } from "../../state/context";
import type { Cell } from "../../state/view";

type Needs = Pick<ExplorerContext, "find" | "state" | "trace" | "picture" | "rowIndex">;

/**
 * The cell of the present row that is asked about: the one that was chosen, or else the strongest;
 * null: none.
 */
const askedAbout = (x: Needs): Cell | null => {
  const picture = x.picture();
  const i = x.rowIndex(picture);
  const values = picture.z[i];
  if (!values?.length) return null;
  const [row, column] = x.state.cell ?? [];
  const chosen =
    row === picture.rows[i].ids[0] ? picture.columns.findIndex(({ ids }) => ids[0] === column) : -1;
  const j = chosen >= 0 ? chosen : values.indexOf(Math.max(...values));
  return picture.masked(i, j) ? null : { i, j };
};

/**
 * The button, and what shows it where one head is seen whose translation the lab can be asked
 * about.
 */
export const makeWhyHere = (x: Needs): (() => void) => {
  const button = x.find<HTMLButtonElement>(".why-cell");
  button.addEventListener("click", () => {
    const cell = askedAbout(x);
    if (!cell) return;
    const { rows, columns } = x.picture();
    askWhyHere(x.trace, x.state, [rows[cell.i].ids[0], columns[cell.j].ids[0]]);
  });
  return () => {
    const { view, overlay } = x.state;
    const single = view === "heatmap" || (view === "arcs" && !overlay.length);
    const cell = single && labAnswers("why") && !x.trace.live ? askedAbout(x) : null;
    button.hidden = !cell;
    if (!cell) return;
    const { rows, columns } = x.picture();
    const { text: query, reads = query } = rows[cell.i];
    const words = { query: reads, key: columns[cell.j].text };
    write(button, t("Why here?"));
    label(button, t("Why here? {query} → {key}", words));
  };
};
