/* Two translations side by side, at the same head, and the difference where their shapes agree. */

import { lookup, paintBar, ramp } from "../../design/colour";
import { stops } from "../../design/scales";
import { copyText } from "../../dom/clipboard";
import { PAGE, type Scene, enter } from "../../dom/scene";
import { partOf, plant } from "../../dom/template";
import { clamp } from "../../format/number";
import { speakMarkup } from "../../i18n/markup";
import { t } from "../../i18n/words";
import type { TracePayload } from "../../protocol/messages";
import { type ComparedView, comparisonLink } from "../../state/compare-link";
import { type Held, makeHeld } from "../../state/held";
import type { Cell } from "../../state/view";
import { differenceOf } from "../../trace/difference";
import { headDistance, mostDifferentHead } from "../../trace/distance";
import { type Picture, type Slicing, slice } from "../../trace/picture";
import { Translation } from "../../trace/translation";
import { paintBoard } from "./board";
import { bringMaps } from "./bring";
import { type Shared, showChosen } from "./chosen";
import markup from "./compare.html";
import { cellAt, drawMap, frameRow } from "./figure";
import type { ComparisonOptions, ComparisonPick } from "./options";
import { SIDES, type Side, cellWords, sayTranslation, stepWords } from "./said";
import { saveComparison } from "./take";

const TOLD = 4000; // ms that an outcome is told

export class Comparison {
  private readonly root: HTMLElement;
  private readonly state: ComparedView = { kind: "cross", layer: 0, head: 0, unit: "sub", step: 0 };
  private traces: Record<Side, Translation> | null = null;
  private pictures: Record<Side, Picture> | null = null;
  private joined: Picture | null = null;
  private readonly life = new AbortController();
  private readonly scene: Scene;
  private told = "";
  private readonly held: Held<Partial<ComparedView>>;

  constructor(
    element: Element,
    private readonly options: ComparisonOptions = {},
  ) {
    this.scene = options.scene ?? PAGE;
    this.held = makeHeld({
      bring: (patch) => this.bring(patch),
      apply: (patch) => this.chose(patch),
      failed: () => this.failed(),
    });
    this.enter();
    this.root = plant(element, markup);
    for (const type of ["click", "input", "change", "mousemove"])
      this.root.addEventListener(type, () => this.enter(), { capture: true, passive: true });
    this.choices();
    for (const side of SIDES) this.point(side);
    const { signal } = this.life;
    const again = () => this.draw();
    for (const event of ["explorer-theme", "explorer-plotly"])
      addEventListener(event, again, { signal });
    addEventListener("explorer-language", () => this.changedLanguage(), { signal });
    const sizes = new ResizeObserver(again);
    sizes.observe(this.root);
    signal.addEventListener("abort", () => sizes.disconnect());
    speakMarkup(this.root);
  }

  /** Take it away, with whatever listens or watches outside of it. */
  destroy(): void {
    this.life.abort();
    this.root.remove();
  }
  /** Its own theme and language hold from here on. */
  enter(): void {
    enter(this.scene);
  }
  changedTheme(): void {
    this.draw();
  }
  changedLanguage(): void {
    this.enter();
    speakMarkup(this.root);
    this.draw();
  }
  /** Choose as from outside. */
  pick(view: Partial<ComparisonPick>): void {
    this.set(view);
  }

  find<E extends Element = HTMLElement>(selector: string): E {
    return partOf<E>(this.root, selector);
  }
  private each(selector: string, run: (button: HTMLElement) => void): void {
    this.root
      .querySelectorAll<HTMLElement>(selector)
      .forEach((button) => button.addEventListener("click", () => run(button)));
  }
  private choices(): void {
    for (const name of ["kind", "unit"] as const)
      this.each(`button[data-${name}]`, (button) => this.set({ [name]: button.dataset[name] }));
    for (const name of ["layer", "head"] as const) {
      const select = this.find<HTMLSelectElement>(`select.${name}`);
      select.addEventListener("change", () => this.set({ [name]: Number(select.value) }));
    }
    const slider = this.find<HTMLInputElement>("#compare-step");
    slider.addEventListener("input", () => this.go(Number(slider.value) - 1));
    this.each("[data-move]", (button) => this.go(this.state.step + Number(button.dataset.move)));
    this.each("[data-link]", () => void this.link());
    this.each("[data-export]", (button) => void this.save(button.dataset.export as "png" | "svg"));
  }
  private set(patch: Partial<ComparedView>): void {
    this.held.set(patch);
  }
  private chose(patch: Partial<ComparedView>): void {
    Object.assign(this.state, patch);
    this.draw();
  }
  /** Whoever is told of choices hears what is shown. */
  private failed(): void {
    if (this.life.signal.aborted) return;
    this.enter();
    this.notice(t("No answer from the server. Please try again."));
    this.told = "";
    this.tell();
  }
  private bring(patch: Partial<ComparedView>): Promise<void> | null {
    const coming = bringMaps(this.traces, this.options.maps, { ...this.state, ...patch });
    return coming && coming.then(() => this.notice(""));
  }

  /**
   * Both, and what is looked at: a `view` that was linked to, the row of the source word `at`, the
   * head that was looked at in others of the same model, or what leads.
   */
  show(a: TracePayload, b: TracePayload, view?: ComparedView | null, at?: string): void {
    const before = this.traces?.a.checkpoint;
    const traces = (this.traces = { a: new Translation(a), b: new Translation(b) });
    const same = JSON.stringify(before) === JSON.stringify(traces.a.checkpoint);
    const head = same ? {} : { kind: "cross", ...traces.a.leading };
    const step = Math.min(3, traces.a.tgt.length - 1);
    const query = traces.a.src.findIndex(({ s }) => s === at);
    const place = query >= 0 && mostDifferentHead(traces.a, traces.b, query);
    const shown = place && { kind: "encoder", step: query, ...place };
    this.find(".both").hidden = false;
    this.set({ ...head, step, ...(shown || {}), ...(view ?? {}) } as ComparedView);
  }
  /** What belongs to it, here or in fields beside it, has not all come. */
  busy(on: boolean): void {
    if (on) this.root.setAttribute("aria-busy", "true");
    else this.root.removeAttribute("aria-busy");
  }
  notice(text: string): void {
    const node = this.find(".notice");
    node.hidden = !text;
    node.textContent = text || "";
    node.classList.toggle("error", !!text);
  }

  /* ---- drawing ---- */
  private draw(): void {
    const { traces, state } = this;
    this.enter();
    if (!traces || this.held.waits() || !window.Plotly || !this.root.clientWidth) return;
    const { kind, unit } = state;
    const maps = SIDES.map((side) => traces[side].maps[kind]);
    const shared = {
      layers: Math.min(...maps.map(({ layers }) => layers)),
      heads: Math.min(...maps.map(({ heads }) => heads)),
    };
    state.layer = Math.min(state.layer, shared.layers - 1);
    state.head = Math.min(state.head, shared.heads - 1);
    showChosen(this.root, state, shared);
    const slicing: Slicing = { unit, specials: "shown" };
    const picture = (trace: Translation) =>
      slice(trace, kind, trace.head(kind, state.layer, state.head), slicing);
    this.pictures = { a: picture(traces.a), b: picture(traces.b) };
    const table = lookup("house", false);
    const bar = this.find<HTMLCanvasElement>(".controls canvas");
    paintBar(bar, (at) => table[Math.round(256 * at)]);
    for (const side of SIDES) this.side(side);
    this.difference();
    this.board(slicing, shared);
    this.go(state.step);
  }
  private side(side: Side): void {
    const trace = this.traces![side];
    const other = this.traces![side === "a" ? "b" : "a"];
    const box = this.find(`[data-side=${side}]`);
    sayTranslation(box, side, trace, other);
    const map = box.querySelector<HTMLElement>(".map")!;
    drawMap(map, { picture: this.pictures![side], kind: this.state.kind, palette: "house" });
  }
  private difference(): void {
    const { a, b } = this.pictures!;
    const box = this.find(".map.difference");
    const bar = this.find<HTMLCanvasElement>(".difference-scale");
    const shape = ({ rows, columns }: Picture) => `${rows.length} × ${columns.length}`;
    this.joined = differenceOf(a, b);
    box.hidden = bar.parentElement!.hidden = !this.joined;
    this.find(".why").textContent = this.joined
      ? t("Row and column names are A's; where B's differ, they follow a slash.")
      : t(
          "A is {a} and B is {b}: maps of different shapes cannot be subtracted. With words instead of subwords the shapes may match.",
          { a: shape(a), b: shape(b) },
        );
    if (!this.joined) return;
    drawMap(box, { picture: this.joined, kind: this.state.kind, palette: "difference" });
    paintBar(bar, (at) => ramp(stops("difference"), at));
  }
  /** Where the heads differ most. */
  private board(slicing: Slicing, shared: Shared): void {
    const box = this.find(".board");
    box.parentElement!.hidden = !this.joined;
    if (!this.joined) return box.replaceChildren();
    const { kind, layer, head } = this.state;
    const { a, b } = this.traces!;
    const known = this.options.distances?.[kind][slicing.unit];
    paintBoard(box, {
      ...shared,
      layer,
      head,
      distance: (l, h) =>
        known ? known[l * shared.heads + h] : headDistance(a, b, kind, l, h, slicing)!,
      choose: (l, h) => this.set({ layer: l, head: h }),
    });
  }

  /* ---- the present step ---- */
  /**
   * The same step (of the encoder: the same query) on both sides; the shorter side stays at its
   * last.
   */
  private go(step: number): void {
    const { kind } = this.state;
    const last = (side: Side) => this.traces![side].maps[kind].rows - 1;
    const total = Math.max(last("a"), last("b")) + 1;
    const slider = this.find<HTMLInputElement>("#compare-step");
    const now = (this.state.step = clamp(step, 0, total - 1));
    slider.max = String(total);
    slider.value = String(now + 1);
    slider.style.setProperty("--fill", (total > 1 ? (100 * now) / (total - 1) : 100) + "%");
    const where = kind === "encoder" ? "Query {n} of {total}" : "Step {n} of {total}";
    this.tell();
    const said = t(where, { n: now + 1, total });
    slider.setAttribute("aria-valuetext", said);
    this.find(".where").textContent = said;
    const rows = SIDES.map((side) => this.step(side, Math.min(now, last(side))));
    if (this.joined) frameRow(this.find(".map.difference"), rows[0]);
  }
  private tell(): void {
    if (this.held.waits()) return;
    const { kind, layer, head, step } = this.state;
    const pick = { kind, layer, head, step };
    const told = JSON.stringify(pick);
    if (told !== this.told) this.options.onPick?.(pick);
    this.told = told;
  }
  /** Show a step on one side; gives the row of it. */
  private step(side: Side, at: number): number {
    const trace = this.traces![side];
    const picture = this.pictures![side];
    const row = picture.rows.findIndex((group) => group.ids.includes(at));
    const said = stepWords(trace, this.state.kind, at, picture, row);
    this.find(`[data-side=${side}] .now`).replaceChildren(...said);
    frameRow(this.find(`[data-side=${side}] .map`), row);
    return row;
  }

  /* ---- the pointer ---- */
  private point(side: Side): void {
    const box = this.find(`[data-side=${side}] .map`);
    const at = (event: MouseEvent) => this.pictures && cellAt(box, this.pictures[side], event);
    box.addEventListener("mousemove", (event) => this.read(at(event)));
    box.addEventListener("mouseleave", () => this.read(null));
    box.addEventListener("click", (event) => {
      const cell = at(event);
      if (cell) this.go(this.pictures![side].rows[cell.i].ids[0]);
    });
  }
  /** The cell under the pointer, in both sentences. */
  private read(cell: Cell | null): void {
    const text = (side: Side) =>
      cellWords(side, this.state.kind, this.pictures![side], cell!.i, cell!.j);
    this.find(".readout").textContent = cell ? SIDES.map(text).filter(Boolean).join("   ·   ") : "";
  }

  private async link(): Promise<void> {
    await copyText(comparisonLink(this.traces!, this.state));
    const told = this.find(".told");
    told.textContent = t("Link copied");
    const timer = setTimeout(() => (told.textContent = ""), TOLD);
    this.life.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }
  private async save(format: "png" | "svg"): Promise<void> {
    const { traces, pictures, joined, state: view } = this;
    await saveComparison(format, { traces: traces!, pictures: pictures!, joined, view });
  }
}
