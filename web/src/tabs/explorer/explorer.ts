/* The explorer itself: one state, one frame of painting for any number of changes, and what arrives to be shown. */

import { makeArcs } from "../../components/arcs/arcs";
import { makeChips } from "../../components/chips/chips";
import { makeExports } from "../../components/export/export";
import { makeGloss } from "../../components/gloss/gloss";
import { makeHeadline } from "../../components/headline/headline";
import { type HealthStrip, makeHealth } from "../../components/health/health";
import { makeHeatmap } from "../../components/heatmap/heatmap";
import { makeMore } from "../../components/more/more";
import { makeMosaic } from "../../components/mosaic/mosaic";
import { makePresent } from "../../components/present/present";
import { makeReadout } from "../../components/readout/readout";
import { makeSide } from "../../components/side/side";
import { makeSteps } from "../../components/steps/steps";
import { makeTour } from "../../components/tour/tour";
import { type Colour, lookup } from "../../design/colour";
import { dark, phone } from "../../dom/screen";
import { PAGE, type Scene, enter } from "../../dom/scene";
import { partOf, plant } from "../../dom/template";
import { LANGUAGES, pageLanguage } from "../../i18n/language";
import { speakMarkup } from "../../i18n/markup";
import type { Kind, Role, StepPayload, TracePayload } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import { overlaid, pinned, pinnedCell, toKind } from "../../state/choices";
import type { Changed, ExplorerContext, Part, Room, Signals } from "../../state/context";
import type { Linked } from "../../state/permalink";
import { COLOUR_KEYS, type Cell, FIRST_STATE, MAP_KEYS, type View, within } from "../../state/view";
import { aggregateName, mapOf } from "../../trace/aggregate";
import { LiveTranslation } from "../../trace/live";
import { type Group, type Picture, type Slicing, slice } from "../../trace/picture";
import { Translation } from "../../trace/translation";
import markup from "./explorer.html";
import { makeLater } from "./later";
import { tellShown } from "./shown";

type Patch = Partial<View & Signals>;
/** The view that was left for a translation that is being written; `picked`: another head was chosen meanwhile. */
type Before = View & { picked?: boolean };

/** What is chosen, as it is told to whom mounted the explorer. Indices count from 0. */
export type Pick = Readonly<{
  kind: Kind;
  layer: number;
  head: number;
  step: number;
  query: number;
  /** The tokens of the cell that was clicked last: its row and its column. */
  cell: View["cell"];
}>;

export interface ExplorerOptions {
  /** What gives exact arrays and the offline page. */
  server?: ExplorerServer | null;
  /** Whose theme and language hold in it; the page's, if nobody says. */
  scene?: Scene;
  /** Told after each choice that changes what is picked. */
  onPick?: (pick: Pick) => void;
}

/** What a choice may change that is told. */
const PICKED: (keyof Pick)[] = ["kind", "layer", "head", "step", "query", "cell"];
/** Every explorer that is there; keys on the page go to the one that was touched last. */
const living = new Set<Explorer>();
let touched: Explorer | null = null;

const LATE = 50; // ms that the large map waits while tokens come
/** Whatever a part may listen to. */
const HEARD = [
  ..."click change input toggle keydown focusin focusout mouseover mousemove mouseleave".split(" "),
  ..."pointerdown pointerup wheel scroll".split(" "),
];
const LEAST = 260; // pixels of a picture's height
const BELOW = 108; // pixels of what stands under it

export class Explorer implements ExplorerContext {
  readonly root: HTMLElement;
  readonly signal: AbortSignal;
  state: View = structuredClone(FIRST_STATE);
  trace!: Translation;
  version = 0;
  changed: Set<string> = new Set();
  /** The number of the frame that is asked for; 0: none. */
  frame = 0;
  /** What is shown, as it was sent. */
  payload: TracePayload | null = null;
  /** What a link asks for, until it is shown. */
  wanted: Linked | null = null;
  readonly health: HealthStrip;
  readonly contributes: boolean;

  private readonly scene: Scene;
  private readonly picked?: (pick: Pick) => void;
  private readonly life = new AbortController();
  private memory: Record<string, unknown> = {};
  private readonly parts: Part[];
  private readonly heatmap: Part;
  private readonly readout: ReturnType<typeof makeReadout>;
  private readonly steps: ReturnType<typeof makeSteps>;
  private readonly exports: { paint: () => void };
  private lastSize = "";
  private behind: Set<string> | null = null;
  private late = 0;
  private live: LiveTranslation | null = null;
  private beforeLive: Before | null = null;
  private lastGood: TracePayload | null = null;

  constructor(element: Element, options: ExplorerOptions = {}) {
    const { server = null, scene = PAGE } = options;
    this.scene = scene;
    this.picked = options.onPick;
    this.contributes = !!server?.alti;
    this.enter();
    this.root = plant(element, markup);
    this.signal = this.life.signal;
    this.readout = makeReadout(this);
    this.steps = makeSteps(this);
    this.heatmap = makeHeatmap(this);
    const arcs = makeArcs(this);
    this.parts = [
      makePresent(this), // whoever measures comes after it
      makeChips(this),
      makeGloss(this),
      this.steps,
      makeMosaic(this),
      makeHeadline(this),
      makeMore(this),
      this.heatmap,
      arcs,
      makeSide(this),
      this.readout,
      makeLater(this, server),
      makeTour(this),
    ];
    this.health = makeHealth(this);
    this.exports = makeExports(this, { server, arcs: arcs.svg });
    this.speak();
    this.listen();
  }

  /** Take it away, with whatever listens, waits or watches outside of it. */
  destroy(): void {
    this.life.abort();
    living.delete(this);
    if (touched === this) touched = null;
    this.root.remove();
  }

  /** Its own theme and language hold from here on. */
  enter(): void {
    enter(this.scene);
  }
  /** Before anything in it hears an event, it enters its scene. */
  private hear(): void {
    for (const type of HEARD)
      this.root.addEventListener(type, () => this.enter(), { capture: true, passive: true });
    const touch = () => (touched = this); // eslint-disable-line @typescript-eslint/no-this-alias
    for (const type of ["pointerdown", "focusin"])
      this.root.addEventListener(type, touch, { capture: true });
    living.add(this);
  }
  private listen(): void {
    const { signal } = this;
    this.hear();
    const sizes = new ResizeObserver(() => this.resized());
    for (const node of [this.root, this.find(".under")]) sizes.observe(node);
    addEventListener("explorer-theme", () => this.changedTheme(), { signal });
    addEventListener("explorer-language", () => this.changedLanguage(), { signal });
    addEventListener("explorer-plotly", () => this.set({ size: {} }), { signal });
    addEventListener("resize", () => this.resized(), { signal });
    addEventListener("beforeprint", () => this.printed(), { signal });
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.late);
    });
  }

  find<E extends Element = HTMLElement>(selector: string): E {
    return partOf<E>(this.root, selector);
  }
  say(nodes: (Node | string)[] | null): void {
    this.readout.say(nodes);
  }
  onKey(listener: (event: KeyboardEvent) => void): void {
    const heard = (event: KeyboardEvent) => {
      const mine = touched === this || living.size === 1;
      if (!mine || !this.root.offsetParent || event.defaultPrevented) return;
      this.enter();
      listener(event);
    };
    document.addEventListener("keydown", heard, { signal: this.signal });
  }
  segment(attribute: string, patch: (value: string) => Partial<View>): void {
    for (const button of this.root.querySelectorAll(`button[${attribute}]`))
      button.addEventListener("click", () => this.set(patch(button.getAttribute(attribute)!)));
  }

  /** What goes to paper is drawn at once: the next frame would come too late. */
  private printed(): void {
    this.changedTheme();
    cancelAnimationFrame(this.frame);
    this.paint();
  }

  /* ---- sizes ---- */
  private resized(): void {
    const width = this.root.clientWidth;
    const size = [width, this.find(".under").offsetHeight, innerHeight, phone()].join();
    if (size === this.lastSize || !width) return;
    this.lastSize = size;
    this.set({ size });
  }
  room(node: Element): number {
    return Math.max(LEAST, innerHeight - node.getBoundingClientRect().top - scrollY - BELOW);
  }
  /** Measured once a frame, since each look after a change lays the page out anew. */
  places(): { mosaic: Room; detail: Room } {
    return this.once("places", () => {
      const detail = this.find("#attention-detail");
      const mosaic = this.find("#attention-mosaic");
      const { clientWidth } = mosaic.querySelector("canvas")!;
      return {
        mosaic: { width: clientWidth, room: this.room(mosaic) },
        detail: { width: detail.clientWidth, room: this.room(detail) },
      };
    });
  }
  moved(): void {
    delete this.memory.places;
  }

  /* ---- changes ---- */
  set(patch: Patch): void {
    if (this.signal.aborted) return;
    const whole = this.fitting(this.trace?.live ? this.later(patch) : patch);
    Object.assign(this.state, whole);
    for (const name of Object.keys(whole)) this.changed.add(name);
    this.frame ||= requestAnimationFrame(() => this.paint());
  }
  /** Layer and head of those that the kind has: encoder and decoder may differ in both. */
  private fitting(patch: Patch): Patch {
    const known = this.trace?.maps[patch.kind || this.state.kind];
    if (!known) return patch;
    const { layer, head } = { ...this.state, ...patch };
    return {
      ...patch,
      ...(layer >= known.layers ? { layer: known.layers - 1 } : {}),
      ...(head >= known.heads ? { head: known.heads - 1 } : {}),
    };
  }
  /** While a translation is written there are cross rows alone: what else is asked for is kept until it is whole. */
  private later({ kind, ...patch }: Patch): Patch {
    const wish = this.beforeLive!;
    const { layer, head, view } = { ...wish, ...patch };
    const picked = wish.picked || "layer" in patch || "head" in patch;
    Object.assign(wish, { kind: kind || wish.kind, layer, head, view, picked });
    return patch.view === "aggregate" ? { ...patch, view: this.state.view } : patch;
  }
  private paint(): void {
    this.frame = 0;
    this.enter();
    const { changed } = this;
    this.changed = new Set();
    if (this.trace) tellShown(this.root, this.trace, this.state);
    if (!this.trace || !this.root.clientWidth) return;
    if (MAP_KEYS.some((name) => changed.has(name))) changed.add("map");
    if (["trace", ...COLOUR_KEYS].some((name) => changed.has(name))) changed.add("colours");
    this.memory = {};
    for (const part of this.parts) {
      if (!part.needs.some((name) => changed.has(name))) continue;
      if (part === this.heatmap && this.trace.live) this.soon(changed);
      else part.paint(changed);
    }
    if (changed.has("trace") || changed.has("language")) this.exports.paint();
    if (this.picked && PICKED.some((name) => changed.has(name))) this.tellPick();
  }
  private tellPick(): void {
    const { kind, layer, head, step, query, cell } = this.state;
    this.picked?.({ kind, layer, head, step, query, cell });
  }
  /** While tokens come the large map waits for them to be painted: it takes longer than all the rest. */
  private soon(changed: Changed): void {
    if (this.behind) return changed.forEach((name) => this.behind!.add(name));
    this.behind = new Set(changed);
    this.late = window.setTimeout(() => {
      const missed = this.behind!;
      this.behind = null;
      if (!this.trace.live) return;
      this.enter();
      this.memory = {};
      this.heatmap.paint(missed);
    }, LATE);
  }
  as(kind: Kind): ExplorerContext {
    const other: Explorer = Object.create(this);
    return Object.assign(other, { state: { ...this.state, kind, overlay: [] }, memory: {} });
  }

  /* ---- what the views share, worked out once a frame ---- */
  private once<T>(name: string, make: () => T): T {
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

  /* ---- choices ---- */
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
    this.set({ ...(kind && kind !== this.state.kind ? toKind(kind, this.state) : {}), ...view });
    this.memory = {};
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
    const shows = overlay.length && this.state.view === "heatmap"; // where one map is shown, two are not
    this.set({ overlay, ...(shows ? { view: "arcs" } : {}) });
  }

  /* ---- a translation arrives ---- */
  show(payload: TracePayload): void {
    this.enter();
    this.steps.stop();
    const trace = new Translation(payload);
    const { kind, layer, head, view, picked }: Before = this.beforeLive || this.state;
    this.live = this.beforeLive = null;
    const same = this.payload?.checkpoint.sha256 === payload.checkpoint.sha256; // another model's heads are others
    this.trace = trace;
    this.version++;
    const wish = this.wanted?.text === payload.source ? this.wanted : null;
    if (wish) this.wanted = null;
    this.set({
      trace: this.version,
      kind: trace.kinds.includes(kind) ? kind : trace.kinds[trace.kinds.length - 1],
      view,
      ...(same || picked ? { layer, head } : trace.leading),
      step: Math.max(0, Math.min(3, trace.tgt.length - 1)),
      query: Math.max(0, Math.min(1, trace.src.length - 1)),
      hover: null,
      cell: null,
      peek: null,
      pins: { rows: [], columns: [] },
      overlay: [],
      ...within(trace, wish?.view ?? {}),
    });
    this.appear();
    this.find(".export").hidden = false;
    this.find(".under").hidden = !payload.health.limit; // nobody measured the text
    this.root.classList.toggle("untargeted", !trace.tgt.length);
    this.health.show(trace);
    this.payload = payload;
  }

  /** One decode step while the translation is being written. */
  stream(message: StepPayload): void {
    this.enter();
    if (!this.live) {
      const { view } = this.state;
      this.beforeLive = { ...this.state };
      this.lastGood = this.payload;
      this.live = new LiveTranslation(message);
      this.steps.stop();
      this.set({
        kind: "cross",
        view: view === "aggregate" ? "heatmap" : view,
        pins: { rows: [], columns: [] },
        overlay: [],
        hover: null,
        peek: null,
      });
    }
    this.live.add(message);
    this.trace = this.live.frozen();
    this.version++;
    this.appear();
    this.set({ trace: this.version, step: message.index });
  }

  /** Back to the last whole translation, after a stop or an error. */
  restore(): void {
    if (!this.live) return;
    const { kind, step, query } = this.beforeLive!;
    this.live = null;
    if (!this.lastGood) return;
    this.show(this.lastGood);
    this.set({ kind, step, query });
  }
  private appear(): void {
    this.find(".work").hidden = this.find(".chain").hidden = false;
    this.find(".empty").hidden = true;
  }

  /* ---- what is said ---- */
  notice(text: string, isError = false): void {
    this.enter();
    const node = this.find(".notice");
    if (node.hidden !== !text) this.set({ size: {} }); // the maps give way, so that the chain still fits one screen
    node.hidden = !text;
    node.classList.toggle("error", isError);
    node.classList.remove("vh");
    node.textContent = text || "";
    this.sayOnce();
    if (node.classList.contains("vh"))
      this.find("#input-health").animate([{ opacity: 0.2 }, { opacity: 1 }], 400);
  }
  /** What the strip says too is left to it on the screen, while screen readers hear the notice; both go together. */
  sayOnce(): void {
    const node = this.find(".notice");
    const was = node.classList.contains("vh");
    const is = this.health.says(node.textContent);
    if (was !== is) this.set({ size: {} });
    node.classList.toggle("vh", is);
    if (was && !is) this.notice("");
  }
  empty(text: string): void {
    for (const part of [".work", ".chain", ".export"]) this.find(part).hidden = true;
    this.find(".empty").hidden = false;
    this.find(".empty p").textContent = text;
  }

  changedTheme(): void {
    this.enter();
    this.set({ theme: dark() });
  }
  changedLanguage(): void {
    this.speak();
    this.health.speak();
    this.set({ language: pageLanguage() });
  }
  /** Put the page's language on everything that does not change with the trace. */
  private speak(): void {
    this.enter();
    this.root.lang = LANGUAGES[pageLanguage()];
    speakMarkup(this.root);
  }
}
