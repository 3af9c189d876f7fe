/* Which part of a map is in sight: where it was scrolled to, or what was zoomed into. */

import type { Range } from "../../plot/heat";
import type { MapSize } from "../../plot/measure";
import type { Cell } from "../../state/view";
import type { Picture } from "../../trace/picture";
import {
  type First,
  following,
  isWhole,
  magnified,
  rangeFrom,
  revealed,
  rounded,
  START,
} from "./range";

export class Sight {
  first: First = START;
  private zoom: Range | null = null;
  /** What must stay, or zoom and scrolling begin anew. */
  private shape = "";

  get zoomed(): boolean {
    return !!this.zoom;
  }
  range(picture: Picture, size: MapSize): Range {
    return this.zoom || rangeFrom(picture, size, this.first);
  }

  /** Of a map of another shape: begin where its `row` is. */
  of(shape: string, picture: Picture, size: MapSize, row: number): void {
    if (shape === this.shape) return;
    this.shape = shape;
    this.zoom = null;
    this.first = revealed(picture, size, START, row);
  }
  beginsAt({ x, y }: First): boolean {
    return x === this.first.x && y === this.first.y;
  }
  /** Scroll to where a map is to begin; false: it begins there. */
  scroll(next: First): boolean {
    if (this.beginsAt(next)) return false;
    this.first = next;
    return true;
  }
  /** Scroll to a row, unless it is in sight; false: nothing was scrolled. */
  reveal(picture: Picture, size: MapSize, row: number): boolean {
    return !this.zoom && this.scroll(revealed(picture, size, this.first, row));
  }
  /** The same for a cell. */
  follow(cell: Cell, size: MapSize): boolean {
    return !this.zoom && this.scroll(following(this.first, size, cell));
  }

  /** Plotly has zoomed, or gone back to all of a map. */
  zoomTo(range: Range, picture: Picture): void {
    const ends = rounded(range);
    this.zoom = isWhole(ends, picture) ? null : ends;
  }
  magnify(range: Range, picture: Picture, cell: Cell, factor: number): void {
    this.zoom = magnified(range, picture, cell, factor);
  }
  unzoom(): void {
    this.zoom = null;
  }
}
