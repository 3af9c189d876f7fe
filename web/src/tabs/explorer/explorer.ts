/* The explorer itself: one state, one frame of painting for any number of changes, and what arrives
   to be shown. */

import type { HealthStrip } from "../../components/health/health";
import { dark, isShown, phone } from "../../dom/screen";
import { PAGE, type Scene, enter } from "../../dom/scene";
import { partOf, plant } from "../../dom/template";
import { LANGUAGES, pageLanguage } from "../../i18n/language";
import { speakMarkup } from "../../i18n/markup";
import type { Kind, Place, StepPayload, TracePayload } from "../../protocol/messages";
import type { Changed, ExplorerContext, Room, Signals } from "../../state/context";
import type { Linked } from "../../state/permalink";
import { COLOUR_KEYS, FIRST_STATE, MAP_KEYS, type View } from "../../state/view";
import { LiveTranslation } from "../../trace/live";
import { Translation } from "../../trace/translation";
import { type Before, arrived, whileWriting, writing } from "./arrival";
import { Choosing } from "./choosing";
import markup from "./explorer.html";
import { type Delayed, makeDelayed } from "./delayed";
import { type Looking, makeLooking } from "./looking";
import { makeNotice } from "./notice";
import { type ExplorerOptions, PICKED, type Pick } from "./options";
import { type Parts, makeParts } from "./parts";
import { roomOf, roomsOf } from "./rooms";
import { tellShown } from "./shown";
import { hear, hearKeys } from "./touch";

type Patch = Partial<View & Signals>;
const LATE = 50; // ms that the large map waits while tokens come

export class Explorer extends Choosing implements ExplorerContext {
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
  readonly contributes: boolean;

  private readonly scene: Scene;
  private readonly picked?: (pick: Pick) => void;
  private readonly life = new AbortController();
  private readonly parts: Parts;
  private readonly said = makeNotice(this, (text) => this.health.says(text));
  private lastSize = "";
  private readonly late: Delayed;
  private readonly looking: Looking;
  private live: LiveTranslation | null = null;
  private beforeLive: Before | null = null;
  private lastGood: TracePayload | null = null;

  constructor(element: Element, options: ExplorerOptions = {}) {
    super();
    const { server = null, scene = PAGE } = options;
    this.scene = scene;
    this.picked = options.onPick;
    this.contributes = !!server?.alti;
    this.enter();
    this.root = plant(element, markup);
    this.signal = this.life.signal;
    this.looking = makeLooking(this, server);
    this.parts = makeParts(this, server);
    this.late = makeDelayed(this.signal, LATE, (missed) => this.paintLate(missed));
    this.speak();
    this.listen();
  }

  /** Take it away, with whatever listens, waits or watches outside of it. */
  destroy(): void {
    this.life.abort();
    this.root.remove();
  }

  /** Its own theme and language hold from here on. */
  enter(): void {
    enter(this.scene);
  }
  private listen(): void {
    const { signal } = this;
    hear(this);
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
    });
  }

  get health(): HealthStrip {
    return this.parts.health;
  }
  find<E extends Element = HTMLElement>(selector: string): E {
    return partOf<E>(this.root, selector);
  }
  say(nodes: (Node | string)[] | null): void {
    this.parts.readout.say(nodes);
  }
  onKey(listener: (event: KeyboardEvent) => void): void {
    hearKeys(this, listener);
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
    const size = this.size();
    if (size === this.lastSize || !this.root.clientWidth) return;
    this.lastSize = size;
    this.set({ size });
  }
  /** The rooms are still those that were drawn in. */
  private fits(): boolean {
    const drawn = JSON.stringify(this.places());
    this.moved();
    return JSON.stringify(this.places()) === drawn;
  }
  private size(): string {
    const { root } = this;
    return [root.clientWidth, this.find(".under").offsetHeight, innerHeight, phone()].join();
  }
  room(node: Element): number {
    return roomOf(node);
  }
  /** Measured once a frame, since each look after a change lays the page out anew. */
  places(): { mosaic: Room; detail: Room } {
    const measure = () => roomsOf(this.find("#attention-mosaic"), this.find("#attention-detail"));
    return this.once("places", measure);
  }
  moved(): void {
    this.forget("places");
  }

  /* ---- changes ---- */
  set(patch: Patch, then?: () => void): void {
    if (!this.signal.aborted) this.looking.set(patch, then);
  }
  bring(kind: Kind, places: readonly Place[]): Promise<void> | null {
    return this.looking.bring(kind, places);
  }
  apply(patch: Patch): void {
    const whole = this.fitting(
      this.trace?.live ? whileWriting(patch, this.beforeLive!, this.state.view) : patch,
    );
    Object.assign(this.state, whole);
    for (const name of Object.keys(whole)) this.changed.add(name);
    this.frame ||= requestAnimationFrame(() => this.paint());
  }
  /** Layer and head of those that the kind has: encoder and decoder may differ in both. */
  fitting(patch: Patch): Patch {
    const known = this.trace?.maps[patch.kind || this.state.kind];
    if (!known) return patch;
    const { layer, head } = { ...this.state, ...patch };
    return {
      ...patch,
      ...(layer >= known.layers ? { layer: known.layers - 1 } : {}),
      ...(head >= known.heads ? { head: known.heads - 1 } : {}),
    };
  }
  private paint(): void {
    this.frame = 0;
    this.enter();
    const { changed } = this;
    this.changed = new Set();
    if (this.trace) tellShown(this.root, this.trace, this.state);
    if (!this.trace || !isShown(this.root)) return;
    if (MAP_KEYS.some((name) => changed.has(name))) changed.add("map");
    if (["trace", ...COLOUR_KEYS].some((name) => changed.has(name))) changed.add("colours");
    this.forget();
    for (const part of this.parts.painted) {
      if (!part.needs.some((name) => changed.has(name))) continue;
      if (part === this.parts.heatmap && this.trace.live) this.late.paint(changed);
      else part.paint(changed);
    }
    if (changed.has("trace") || changed.has("language")) this.parts.exports.paint();
    this.lastSize ||= this.fits() ? this.size() : "";
    const told = PICKED.some((name) => changed.has(name)) && !this.looking.waits();
    if (this.picked && told) this.tellPick();
  }
  private tellPick(): void {
    const { kind, layer, head, step, query, cell } = this.state;
    this.picked?.({ kind, layer, head, step, query, cell });
  }
  /**
   * While tokens come the large map waits for them to be painted: it takes longer than all the
   * rest.
   */
  private paintLate(missed: Changed): void {
    if (!this.trace.live) return;
    this.enter();
    this.forget();
    this.parts.heatmap.paint(missed);
  }
  as(kind: Kind): ExplorerContext {
    const other: Explorer = Object.create(this);
    return Object.assign(other, { state: { ...this.state, kind, overlay: [] }, memory: {} });
  }

  /* ---- a translation arrives ---- */
  show(payload: TracePayload): void {
    this.enter();
    this.parts.steps.stop();
    const trace = new Translation(payload);
    const before: Before = this.beforeLive || this.state;
    this.live = this.beforeLive = null;
    // another model's heads are others
    const same = this.payload?.checkpoint.sha256 === payload.checkpoint.sha256;
    this.trace = trace;
    this.version++;
    const wish = this.wanted?.text === payload.source ? this.wanted : null;
    if (wish) this.wanted = null;
    this.set({ trace: this.version, ...arrived(trace, before, same, wish?.view ?? {}) });
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
      this.beforeLive = { ...this.state };
      this.lastGood = this.payload;
      this.live = new LiveTranslation(message);
      this.parts.steps.stop();
      this.set(writing(this.state.view));
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
    this.said.say(text, isError);
  }
  sayOnce(): void {
    this.said.once();
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
