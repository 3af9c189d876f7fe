/* What an explorer offers to its parts. A part says by a `Pick` of this which of it it needs. */

import type { Colour } from "../design/colour";
import type { Kind, Place, Role } from "../protocol/messages";
import type { Group, Picture, Slicing } from "../trace/picture";
import type { Translation } from "../trace/translation";
import type { Cell, View } from "./view";

/** What is not chosen but may change as well: each is a reason to paint. */
export interface Signals {
  /** The number of the translation. */
  trace: number;
  theme: unknown;
  language: string;
  size: unknown;
  /** What may have been left out has come. */
  marks: unknown;
}

/**
 * What has changed: names of the view, of the signals, and what follows of them, "map" and
 * "colours".
 */
export type Changed = ReadonlySet<string>;

/** Width and room of a picture, in pixels. */
export interface Room {
  width: number;
  room: number;
}

export interface ExplorerContext {
  readonly root: HTMLElement;
  /**
   * Its own theme and language hold from here on: for what begins to run by itself, after a wait.
   */
  enter(): void;
  /**
   * Aborted when the explorer is taken away: whatever listens or waits outside of `root` goes with
   * it.
   */
  readonly signal: AbortSignal;
  readonly state: View;
  /** Not there until the first translation; parts are painted only with one. */
  readonly trace: Translation;
  /** Another translation has another number. */
  readonly version: number;
  /** Whether somebody can be asked for ALTI+. */
  readonly contributes: boolean;
  /** What has changed since the last painting. */
  readonly changed: Changed;

  find<E extends Element = HTMLElement>(selector: string): E;
  /**
   * Change the view once the maps that it shows are there, run `then`, and paint in the next frame
   * what depends on it.
   */
  set(patch: Partial<View & Signals>, then?: () => void): void;
  /**
   * Fetch the maps of some heads, which a long translation in a notebook may lack; null: they are
   * there.
   */
  bring(kind: Kind, places: readonly Place[]): Promise<void> | null;
  /** A sentence about what is pointed at, in place of the read-out; null: the read-out again. */
  say(nodes: (Node | string)[] | null): void;
  onKey(listener: (event: KeyboardEvent) => void): void;
  /** Buttons with an attribute, whose value makes the change. */
  segment(attribute: string, patch: (value: string) => Partial<View>): void;

  /** The height that is left for a picture, so that the whole chain fits one screen. */
  room(node: Element): number;
  places(): { mosaic: Room; detail: Room };
  /** The places have moved and are measured anew. */
  moved(): void;

  slicing(): Slicing;
  map(): Float32Array;
  picture(): Picture;
  colours(): Colour[];
  /** The present row of a picture; -1: it is hidden. */
  rowIndex(picture: { rows: Group[] }): number;
  headName(): string;
  roleOf(kind: Kind, layer: number, head: number): Role | "";
  /** This explorer as it would be with another kind of attention chosen. */
  as(kind: Kind): ExplorerContext;

  chooseRow(i: number, hover?: Cell | null): void;
  pin(side: "rows" | "columns", id: number): void;
  pinCell(cell: Cell): void;
  /** Lay a head over the others, or take it away. */
  overlay(layer: number, head: number): void;
}

/** A part of the explorer: what it is painted for, and how. */
export interface Part {
  needs: string[];
  paint(changed: Changed): void;
}
