/* What the views of an explorer share: worked out once a frame from the translation and from what
   is chosen. */

import { type Colour, lookup } from "../../design/colour";
import type { Kind, Role } from "../../protocol/messages";
import type { View } from "../../state/view";
import { aggregateName, mapOf } from "../../trace/aggregate";
import { type Group, type Picture, type Slicing, slice } from "../../trace/picture";
import type { Translation } from "../../trace/translation";

export abstract class Shared {
  abstract readonly state: View;
  abstract readonly trace: Translation;
  protected memory: Record<string, unknown> = {};

  /** What is asked for next is worked out anew: all of it, or what has a name. */
  protected forget(name?: string): void {
    if (name) delete this.memory[name];
    else this.memory = {};
  }
  protected once<T>(name: string, make: () => T): T {
    return (this.memory[name] ??= make()) as T;
  }

  slicing(): Slicing {
    return { unit: this.trace.words ? this.state.unit : "sub", specials: this.state.specials };
  }
  map(): Float32Array {
    return this.once("map", () => mapOf(this.trace, this.state));
  }
  picture(): Picture {
    return this.once("picture", () =>
      slice(this.trace, this.state.kind, this.map(), this.slicing()),
    );
  }
  colours(): Colour[] {
    const { palette, scale } = this.state;
    return this.once("colours", () => lookup(palette, scale === "root"));
  }
  rowIndex({ rows }: { rows: Group[] }): number {
    const id = this.trace.rowOf(this.state.kind, this.state);
    return rows.findIndex((group) => group.ids.includes(id));
  }
  headName(): string {
    const { view, layer, head, aggregate } = this.state;
    return view === "aggregate" ? aggregateName(aggregate) : `L${layer + 1} H${head + 1}`;
  }
  roleOf(kind: Kind, layer: number, head: number): Role | "" {
    const { heads, maps } = this.trace;
    return heads ? heads[kind].role[layer * maps[kind].heads + head] : "";
  }
}
