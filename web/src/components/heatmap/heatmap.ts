/* One map in full: a Plotly heat map with truthful axes, and the frames that lie over it. */

import { onceSeen, phone } from "../../dom/screen";
import { t } from "../../i18n/words";
import { type Cells, shownCells } from "../../plot/cells";
import type { HeatView } from "../../plot/heat";
import type { MapSize } from "../../plot/measure";
import type { PlotNode } from "../../plot/plotly";
import type { Kind } from "../../protocol/messages";
import type { Changed, Part } from "../../state/context";
import type { Cell } from "../../state/view";
import { missingOf } from "../../trace/parts";
import type { Picture } from "../../trace/picture";
import { type Ahead, drawHidden, makeAhead } from "./ahead";
import { axesOf, cellAt } from "./axes";
import { type Buttons, makeButtons } from "./buttons";
import { listenToHands } from "./hands";
import { HEAVY, type Needs } from "./needs";
import { type OverlayView, makeOverlay } from "./overlay";
import { type Drawn, keyOf, makePlots, measured, onPaper, placeOf, putCells } from "./plots";
import { makeScroll } from "./scroll";
import { Sight } from "./sight";

class Heatmap implements Part {
  readonly needs = [...HEAVY, "step", "query", "hover", "pins", "playing", "numbers"];
  private readonly box: HTMLElement;
  private readonly overlay = makeOverlay();
  private readonly scroll = makeScroll(() => this.scrolled());
  private readonly plots = makePlots((drawn) => this.wire(drawn));
  private readonly buttons: Buttons;
  private readonly ahead: Ahead;
  private readonly sight = new Sight();
  private plot: PlotNode;
  /** How the map in sight was drawn; null: it was not. */
  private seen: HeatView | null = null;
  private size: MapSize | null = null;
  /** Cells that are in sight and that Plotly does not have yet. */
  private untold: Cells | null = null;
  private scrolling = 0;
  /** Plotly may draw. */
  private warm = false;
  private warming = false;

  constructor(private readonly x: Needs) {
    this.box = x.find("#attention-detail");
    this.plot = this.plots.of(x.state.kind).node;
    this.buttons = makeButtons({ unzoom: () => this.unzoom(), turn: () => this.fitted() });
    this.ahead = makeAhead(x.signal, () => this.drawAhead());
    const { overlay, scroll, buttons } = this;
    this.box.append(this.plot, ...overlay.nodes, ...scroll.nodes, ...buttons.nodes);
    this.listen();
    x.signal.addEventListener("abort", () => cancelAnimationFrame(this.scrolling));
  }

  /* ---- drawing ---- */
  paint(changed: Changed): void {
    const off = this.x.state.view === "arcs";
    if (this.box.hidden !== off) {
      this.box.hidden = off;
      this.scroll.forget();
      this.x.moved();
    }
    if (off) return;
    const heavy = HEAVY.filter((name) => changed.has(name));
    const drawn = this.size && this.plots.of(this.x.state.kind).wired;
    if (heavy.length === 1 && heavy[0] === "map" && drawn) this.refill();
    else if (heavy.length) this.draw();
    else if (!this.reveals(changed)) this.frames();
  }

  /** Scroll to another row, if it is out of sight; false: it is not. */
  private reveals(changed: Changed): boolean {
    if (!this.size || !(changed.has("step") || changed.has("query"))) return false;
    const picture = this.x.picture();
    if (!this.sight.reveal(picture, this.size, this.x.rowIndex(picture))) return false;
    this.put(picture, this.seen!);
    return true;
  }

  private draw(): void {
    const { x } = this;
    const { detail } = x.places();
    if (detail.width <= 2) return;
    const { picture, size, view } = measured(x, detail);
    const { rows, columns } = picture;
    const shape = [x.state.kind, x.version, rows.length, columns.length].join();
    this.sight.of(shape, picture, size, x.rowIndex(picture));
    const { node } = this.plots.of(x.state.kind);
    if (this.plot !== node) {
      this.plot.replaceWith(node);
      this.plot = node;
    }
    if (window.Plotly && this.warm) return this.put(picture, view);
    const range = this.sight.range(picture, size);
    this.plots.sketch(x, picture, { ...view, range }, x.colours());
    this.warmUp();
  }
  /** Plotly's first drawing takes long: it comes once the map is seen without it. */
  private warmUp(): void {
    if (this.warming) return;
    this.warming = true;
    onceSeen(this.x.signal, () => {
      this.warm = true;
      if (window.Plotly) this.x.set({ size: {} });
    });
  }
  /** Let Plotly draw what is in sight of a map that was measured. */
  private put(picture: Picture, view: Omit<HeatView, "range">): void {
    const { x } = this;
    const seen = { ...view, range: this.sight.range(picture, view.size) };
    this.untold = null;
    this.size = view.size;
    this.seen = seen;
    this.plots.fill(x, picture, x.version, seen);
    this.arrange(picture, seen);
    this.frames();
    this.rest();
  }
  /** Put all that lies round the plot in its place. */
  private arrange(picture: Picture, view: HeatView): void {
    const { size, height } = view;
    if (this.sight.zoomed) this.scroll.hide();
    else this.scroll.show(picture, size, this.sight.first, view);
    this.overlay.put(placeOf(view), this.x.state.kind === "decoder");
    const { fit } = this.x.state;
    const { rows, columns } = picture;
    const cut = size.columns < columns.length || size.rows < rows.length || height > innerHeight;
    this.buttons.paint({ zoomed: this.sight.zoomed, fit, cut });
    this.box.style.setProperty("--on-paper", onPaper(view).toFixed(3));
    this.name();
  }
  /** All of the map at once, or cells of a size to be read. */
  private fitted(): void {
    const fit = !this.x.state.fit;
    this.x.set({ fit });
    // once it is drawn
    if (fit) requestAnimationFrame(() => this.box.scrollIntoView({ block: "nearest" }));
  }
  private name(): void {
    const head = this.x.headName();
    const label = "Attention of {head}. Arrow keys move from cell to cell, Enter chooses the row";
    this.box.setAttribute("aria-label", t(label, { head }));
  }
  private frames(): void {
    const { x, plot, size } = this;
    if (!size) return;
    const picture = x.picture();
    const { hover, pins, playing, kind } = x.state;
    const row = x.rowIndex(picture);
    const veiled = playing && kind !== "encoder";
    const numbers = x.state.numbers ? this.numbers(picture, size) : null;
    this.overlay.paint({ plot, picture, size, row, hover, pins, veiled, numbers });
  }
  private numbers(picture: Picture, { text }: MapSize): OverlayView["numbers"] {
    const { x } = this;
    const view = () => ({
      picture,
      cells: shownCells(picture, x.state.scale),
      table: x.colours(),
      most: text + 1,
    });
    return [keyOf(x, x.version, this.seen!), view];
  }

  /**
   * Another head of the same size: its picture takes the place of Plotly's at once; Plotly, which
   * draws for longer, is told when there is time.
   */
  private refill(): void {
    const { x, plot } = this;
    const cells = shownCells(x.picture(), x.state.scale);
    this.untold = cells;
    this.plots.of(x.state.kind).key = "";
    const put = !phone() && putCells(plot, cells, x.colours(), placeOf(this.seen!));
    if (!put) this.tell();
    this.name();
    this.frames();
    this.rest();
  }
  /** Let Plotly have the cells that are in sight; before it draws by itself, it must. */
  private tell(): void {
    if (!this.untold) return;
    const { x } = this;
    const cells = this.untold;
    this.untold = null;
    void window.Plotly!.restyle(this.plot, { z: [cells] }, [0]);
    if (!this.sight.zoomed && !x.changed.size) {
      const range = this.sight.range(x.picture(), this.size!);
      this.plots.of(x.state.kind).key = keyOf(x, x.version, { ...this.seen!, range });
    }
    this.frames();
  }

  /** Then the other kinds are drawn too, one at a time: a switch only shows them. */
  private rest(): void {
    this.ahead.rest(!this.x.trace.live && !phone());
  }
  private drawAhead(): boolean {
    const { x, box } = this;
    x.enter();
    if (box.closest(".busy")) {
      this.rest(); // a translation is on its way
      return false;
    }
    const { detail } = x.places();
    if (x.trace.live || x.changed.size || box.hidden || detail.width <= 2) return false;
    if (this.untold) {
      this.tell();
      return true;
    }
    const kinds = (Object.keys(x.trace.maps) as Kind[]).filter(
      (kind) => kind !== x.state.kind && !missingOf(x.trace, x.as(kind).state).length,
    );
    return kinds.some((kind) => drawHidden(x.as(kind), this.plots, box, detail, x.version));
  }
  /* ---- zoom and scrolling ---- */
  private unzoom(): void {
    this.sight.unzoom();
    this.x.set({ size: {} });
  }
  private wire(drawn: Drawn): void {
    drawn.node.on("plotly_relayout", (change: object) => {
      const axes = axesOf(drawn.node);
      if (!axes || !Object.keys(change).some((key) => key.endsWith("range[0]"))) return;
      drawn.key = "";
      this.sight.zoomTo({ x: axes.x.range, y: axes.y.range }, this.x.picture());
      this.buttons.zoomed(this.sight.zoomed);
      this.frames();
    });
  }
  private scrolled(): void {
    if (!this.size || this.scrolling) return;
    const next = this.scroll.moved(this.sight.first, this.size);
    if (this.sight.beginsAt(next)) return;
    this.scrolling = requestAnimationFrame(() => {
      this.scrolling = 0;
      this.x.enter();
      this.sight.scroll(next);
      const range = this.sight.range(this.x.picture(), this.size!);
      this.tell();
      this.plots.of(this.x.state.kind).key = "";
      const ends = { "xaxis.range": range.x, "yaxis.range": range.y };
      void window.Plotly!.relayout(this.plot, ends).then(() => this.frames());
    });
  }
  private go(cell: Cell): void {
    if (this.size && this.sight.follow(cell, this.size)) this.draw();
    this.x.set({ hover: cell });
  }
  private magnify(cell: Cell, factor: number): void {
    const axes = axesOf(this.plot);
    if (!axes) return;
    const range = { x: axes.x.range, y: axes.y.range };
    this.sight.magnify(range, this.x.picture(), cell, factor);
    this.draw();
  }
  /** All of it again; false: it was not zoomed. */
  private unzoomed(): boolean {
    if (!this.sight.zoomed) return false;
    this.sight.unzoom();
    this.draw();
    return true;
  }
  private escape(): boolean {
    if (!this.sight.zoomed && !this.x.state.hover) return false;
    this.sight.unzoom();
    this.x.set({ hover: null });
    this.draw();
    return true;
  }

  /* ---- pointer and keys ---- */
  private listen(): void {
    const { x } = this;
    listenToHands(this.box, x, {
      cellAt: (event) => (x.trace ? cellAt(this.plot, x.picture(), event) : null),
      hover: (cell) => this.hover(cell),
      pressed: () => this.tell(),
      unzoom: () => this.unzoomed(),
      wheel: (event) => this.scroll.wheel(event),
      go: (cell) => this.go(cell),
      magnify: (cell, factor) => this.magnify(cell, factor),
      escape: () => this.escape(),
    });
  }
  private hover(cell: Cell | null): void {
    const { hover } = this.x.state;
    if (cell?.i === hover?.i && cell?.j === hover?.j) return;
    this.x.set({ hover: cell });
  }
}

export const makeHeatmap = (x: Needs): Part => new Heatmap(x);
