/* An explorer's markup and state for the tests of one part of it: a choice paints that part at
   once. */

import { afterAll, beforeAll, vi } from "vitest";
import type { ExplorerContext, Part, Room, Signals } from "../state/context";
import { FIRST_STATE, MAP_KEYS, type View } from "../state/view";
import { plant } from "../dom/template";
import { Choosing } from "../tabs/explorer/choosing";
import markup from "../tabs/explorer/explorer.html";
import { example } from "./example";

const ROOM: Room = { width: 600, room: 400 };

const living: AbortController[] = [];
/** No timer of a part outlives its file's page. */
afterAll(() => living.forEach((life) => life.abort()));

export class TestContext extends Choosing implements ExplorerContext {
  readonly root: HTMLElement;
  readonly life = new AbortController();
  readonly signal = this.life.signal;
  readonly state: View = structuredClone(FIRST_STATE);
  readonly trace;
  readonly version = 1;
  readonly contributes = false;
  readonly changed: Set<string> = new Set();
  /** What was said of what is pointed at; null: nothing. */
  told: (Node | string)[] | null = null;
  private part: Part | null = null;

  constructor(id?: string) {
    super();
    living.push(this.life);
    this.trace = example(id);
    Object.assign(this.state, this.trace.leading, { kind: "cross", step: 1 });
    document.body.replaceChildren();
    this.root = plant(document.body, markup);
  }

  /** Make a part, and paint it. */
  shows<P extends Part>(make: (x: TestContext) => P): P {
    const part = make(this);
    this.part = part;
    this.paint(["trace", "colours", "map"]);
    return part;
  }
  private paint(names: string[]): void {
    this.forget();
    this.part?.paint(new Set(names));
  }
  bring(): null {
    return null;
  }
  set(patch: Partial<View & Signals>, then?: () => void): void {
    Object.assign(this.state, patch);
    const names = Object.keys(patch);
    if (names.some((name) => MAP_KEYS.includes(name))) names.push("map");
    this.paint(names);
    then?.();
  }
  enter(): void {}
  moved(): void {}
  find<E extends Element = HTMLElement>(selector: string): E {
    return this.root.querySelector<E>(selector.replace(/#([\w-]+)/g, '[data-part="$1"]'))!;
  }
  say(nodes: (Node | string)[] | null): void {
    this.told = nodes;
  }
  onKey(listener: (event: KeyboardEvent) => void): void {
    document.addEventListener("keydown", listener, { signal: this.signal });
  }
  segment(attribute: string, patch: (value: string) => Partial<View>): void {
    for (const button of this.root.querySelectorAll(`button[${attribute}]`))
      button.addEventListener("click", () => this.set(patch(button.getAttribute(attribute)!)));
  }
  room(): number {
    return ROOM.room;
  }
  places(): { mosaic: Room; detail: Room } {
    return { mosaic: ROOM, detail: ROOM };
  }
  as(): ExplorerContext {
    return this;
  }
}

/** A document without a painter has canvases that nothing is drawn on. */
export const blankCanvases = (): void => {
  const data = { set: () => undefined };
  const nothing = new Proxy({}, { get: () => () => ({ width: 0, data }), set: () => true });
  HTMLCanvasElement.prototype.getContext = (() => nothing) as never;
};

const SIDES = ["clientWidth", "clientHeight"] as const;

/** For files whose explorers are painted whole, which takes long: every element has room. */
export const paintedWhole = (): void => {
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  const { prototype } = HTMLElement;
  const own = SIDES.map((name) => Object.getOwnPropertyDescriptor(prototype, name));
  beforeAll(() => {
    blankCanvases();
    for (const name of SIDES)
      Object.defineProperty(prototype, name, { configurable: true, get: () => 900 });
  });
  afterAll(() => {
    SIDES.forEach((name, at) => {
      if (own[at]) Object.defineProperty(prototype, name, own[at]);
      else Reflect.deleteProperty(prototype, name);
    });
  });
};
