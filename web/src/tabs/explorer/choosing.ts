/* What can be chosen in an explorer, by its parts and from outside. */

import { overlaid, pinned, pinnedCell, toKind } from "../../state/choices";
import type { Signals } from "../../state/context";
import type { Cell, View } from "../../state/view";
import { Shared } from "./shared";

export abstract class Choosing extends Shared {
  abstract set(patch: Partial<View & Signals>, then?: () => void): void;

  chooseRow(i: number, hover: Cell | null = null): void {
    const { rows, columns } = this.picture();
    const [id] = rows[i].ids;
    const cell: View["cell"] = hover ? [id, columns[hover.j].ids[0]] : null;
    const row = this.state.kind === "encoder" ? { query: id } : { step: id };
    this.set({ ...row, hover, ...(cell ? { cell } : {}) });
  }
  /** Choose as from outside: another kind brings what goes with it, and a cell its row. */
  pick({ cell, ...view }: Partial<View>): void {
    const { kind } = view;
    const patch = {
      ...(kind && kind !== this.state.kind ? toKind(kind, this.state) : {}),
      ...view,
    };
    this.set(patch, () => this.pickCell(cell));
  }
  private pickCell(cell: View["cell"] | undefined): void {
    this.forget();
    if (cell === null) this.set({ cell, hover: null });
    if (!cell || !this.trace) return;
    const { rows, columns } = this.picture();
    const [i, j] = [rows, columns].map((all, at) =>
      all.findIndex(({ ids }) => ids.includes(cell[at])),
    );
    if (i >= 0 && j >= 0) this.chooseRow(i, { i, j });
  }
  pin(side: "rows" | "columns", id: number): void {
    this.set({ pins: pinned(this.state.pins, side, id) });
  }
  pinCell({ i, j }: Cell): void {
    const { rows, columns } = this.picture();
    this.set({ pins: pinnedCell(this.state.pins, rows[i].ids[0], columns[j].ids[0]) });
  }
  overlay(layer: number, head: number): void {
    const overlay = overlaid(this.state, [layer, head]);
    // where one map is shown, two are not
    const shows = overlay.length && this.state.view === "heatmap";
    this.set({ overlay, ...(shows ? { view: "arcs" } : {}) });
  }
}
