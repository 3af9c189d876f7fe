/* What the server chose for a form: it may choose anew once something else is asked. */

import type { Options } from "./form";

const CELL = ["query", "key"];
const WORDS = ["word", "against"];
/** What was chosen by the value of a field, and is chosen anew with it. */
const BY: Record<string, string[]> = {
  kind: CELL,
  layer: CELL,
  head: CELL,
  query: ["key"],
  step: WORDS,
  other: ["step", ...WORDS],
  noise: ["step", ...WORDS],
};

export class Chosen {
  private values: Record<string, Options> = {};

  /** Fill the fields of a view that were left to the server; whether there was one. */
  fill(view: string, chosen: Options, options: Options): boolean {
    const open = Object.entries(chosen).filter(([field]) => options[field] === null);
    Object.assign(options, Object.fromEntries(open));
    Object.assign((this.values[view] ??= {}), Object.fromEntries(open));
    return open.length > 0;
  }
  /** Whatever stands in a view was said by somebody. */
  forget(view: string): void {
    delete this.values[view];
  }
  /** Leave to the server again what it chose, and nobody changed, in every view. */
  open(options: Record<string, Options>): void {
    for (const view of Object.keys(this.values)) {
      const own = options[view] ?? {};
      this.openFields(view, Object.keys(this.values[view]), own);
    }
  }
  /** The same in one view, for what was chosen by the value of `field`. */
  openBy(field: string, view: string, options: Options): void {
    this.openFields(view, BY[field] ?? [], options);
  }
  private openFields(view: string, fields: string[], options: Options): void {
    const values = this.values[view] ?? {};
    for (const field of fields) {
      if (field in values && values[field] === options[field]) options[field] = null;
      delete values[field];
    }
  }
}
