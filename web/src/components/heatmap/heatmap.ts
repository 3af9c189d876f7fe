/* One map in full: a Plotly heat map with truthful axes, and the frames that lie over it. */

import { el } from "../../dom/element";
import { cancelIdle, phone, whenIdle } from "../../dom/screen";
import { clamp } from "../../format/number";
import { t } from "../../i18n/words";
import { type Cells, cellPicture, shownCells } from "../../plot/cells";
import type { HeatView, Range } from "../../plot/heat";
import type { MapSize } from "../../plot/measure";
import type { PlotNode } from "../../plot/plotly";
import type { Kind } from "../../protocol/messages";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import type { Cell } from "../../state/view";
import type { Picture } from "../../trace/picture";
import { axesOf, cellAt } from "./axes";
import { type OverlayView, makeOverlay } from "./overlay";
import { type Drawn, type Who, keyOf, makePlots, measured } from "./plots";
import { listenToPointer } from "./pointer";
import { type First, following, isWhole, magnified, rangeFrom, revealed, rounded } from "./range";
import { makeScroll } from "./scroll";

type Needs = Pick<
  ExplorerContext,
  | "signal"
  | "enter"
  | "find"
  | "state"
  | "trace"
  | "version"
  | "changed"
  | "set"
  | "places"
  | "moved"
  | "picture"
  | "colours"
  | "rowIndex"
  | "headName"
  | "as"
  | "chooseRow"
  | "pinCell"
>;

const REST = 250; // ms without a change, before other kinds are drawn
const START: First = { x: 0, y: 0 };
const MAGNIFY: Record<string, number> = { "+": 0.6, "-": 1 / 0.6 };
const HEAVY =
  "trace kind map scale palette labels unit specials theme language size view fit presenting".split(
    " ",
  );

const PAPER = { width: 1000, height: 410 }; // pixels of a page that are left for a map

/** The size of a map on paper, beside its size on the screen. */
const onPaper = ({ width, height }: HeatView): number =>
  Math.min(1.5, PAPER.width / width, PAPER.height / height);

/** A neighbour of a cell by an arrow key, or null. */
const neighbour = (key: string, { i, j }: Cell, { rows, columns }: Picture): Cell | null => {
  const moves: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  const move = moves[key];
  if (!move) return null;
  return {
    i: clamp(i + move[0], 0, rows.length - 1),
    j: clamp(j + move[1], 0, columns.length - 1),
  };
};

class Heatmap implements Part {
  readonly needs = [...HEAVY, "step", "query", "hover", "pins", "playing", "numbers"];
  private readonly box: HTMLElement;
  private readonly overlay = makeOverlay();
  private readonly scroll = makeScroll(() => this.scrolled());
  private readonly plots = makePlots((drawn) => this.wire(drawn));
  private readonly reset: HTMLButtonElement;
  private readonly fit: HTMLButtonElement;
  private plot: PlotNode;
  /** How the map in sight was drawn; null: it was not. */
  private seen: HeatView | null = null;
  private size: MapSize | null = null;
  private zoom: Range | null = null;
  private first: First = START;
  /** What must stay, or zoom and scrolling begin anew. */
  private shape = "";
  /** Cells that are in sight and that Plotly does not have yet. */
  private untold: Cells | null = null;
  private waiting = 0;
  private idle = 0;
  private scrolling = 0;

  constructor(private readonly x: Needs) {
    this.box = x.find("#attention-detail");
    this.plot = this.plots.of(x.state.kind).node;
    this.reset = el("button", {
      type: "button",
      class: "btn reset-zoom",
      hidden: true,
      on: { click: () => this.unzoom() },
    });
    this.fit = el("button", {
      type: "button",
      class: "btn fit-map",
      hidden: true,
      on: { click: () => this.fitted() },
    });
    const buttons = [this.fit, this.reset];
    this.box.append(this.plot, ...this.overlay.nodes, ...this.scroll.nodes, ...buttons);
    this.listen();
    x.signal.addEventListener("abort", () => {
      clearTimeout(this.waiting);
      cancelIdle(this.idle);
      cancelAnimationFrame(this.scrolling);
    });
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
    if (!this.size || this.zoom || !(changed.has("step") || changed.has("query"))) return false;
    const picture = this.x.picture();
    const next = revealed(picture, this.size, this.first, this.x.rowIndex(picture));
    if (next.x === this.first.x && next.y === this.first.y) return false;
    this.first = next;
    this.draw();
    return true;
  }

  private draw(): void {
    const { x } = this;
    const { detail } = x.places();
    if (detail.width <= 2 || !window.Plotly) return;
    const { picture, size, view } = measured(x, detail);
    this.untold = null;
    this.size = size;
    const { rows, columns } = picture;
    const shape = [x.state.kind, x.version, rows.length, columns.length].join();
    if (shape !== this.shape) {
      this.shape = shape;
      this.zoom = null;
      this.first = revealed(picture, size, START, x.rowIndex(picture));
    }
    this.seen = { ...view, range: this.zoom || rangeFrom(picture, size, this.first) };
    const { node } = this.plots.of(x.state.kind);
    if (this.plot !== node) {
      this.plot.replaceWith(node);
      this.plot = node;
    }
    this.plots.fill(x, picture, x.version, this.seen);
    this.arrange(picture, this.seen);
    this.frames();
    this.ahead();
  }
  /** Put all that lies round the plot in its place. */
  private arrange(picture: Picture, view: HeatView): void {
    const { size, width, height } = view;
    if (this.zoom) this.scroll.hide();
    else this.scroll.show(picture, size, this.first, view);
    const place = {
      left: size.labels,
      top: size.top,
      width: width - size.labels - size.right,
      height: height - size.top - 2,
    };
    this.overlay.put(place, this.x.state.kind === "decoder");
    this.reset.hidden = !this.zoom;
    this.reset.textContent = t("Reset zoom");
    const { fit } = this.x.state;
    const { rows, columns } = picture;
    const cut = size.columns < columns.length || size.rows < rows.length || height > innerHeight;
    this.fit.hidden = !!this.zoom || !(fit || cut);
    this.fit.textContent = t("Fit");
    this.fit.title = t("Show the whole map at once");
    this.fit.setAttribute("aria-pressed", String(fit));
    this.box.style.setProperty("--on-paper", onPaper(view).toFixed(3));
    this.name();
  }
  /** All of the map at once, or cells of a size to be read. */
  private fitted(): void {
    const fit = !this.x.state.fit;
    this.x.set({ fit });
    if (fit) requestAnimationFrame(() => this.box.scrollIntoView({ block: "nearest" })); // once it is drawn
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

  /** Another head of the same size: its picture takes the place of Plotly's at once; Plotly, which draws for longer, is told when there is time. */
  private refill(): void {
    const { x, plot } = this;
    const cells = shownCells(x.picture(), x.state.scale);
    const image = plot.querySelector<SVGImageElement>(".heatmaplayer image");
    this.untold = cells;
    this.plots.of(x.state.kind).key = "";
    if (image && !phone()) {
      const smooths = image.style.imageRendering !== "pixelated"; // Plotly knows which browsers do: Safari
      const { size, width, height } = this.seen!;
      const across = width - size.labels - size.right;
      const least = smooths ? devicePixelRatio * Math.max(across, height - size.top - 2) : 0;
      image.href.baseVal = cellPicture(cells, x.colours(), least);
      plot.data[0].z = cells;
    } else this.tell();
    this.name();
    this.frames();
    this.ahead();
  }
  /** Let Plotly have the cells that are in sight; before it draws by itself, it must. */
  private tell(): void {
    if (!this.untold) return;
    const { x } = this;
    const cells = this.untold;
    this.untold = null;
    void window.Plotly!.restyle(this.plot, { z: [cells] }, [0]);
    if (!this.zoom && !x.changed.size) {
      const range = rangeFrom(x.picture(), this.size!, this.first);
      this.plots.of(x.state.kind).key = keyOf(x, x.version, { ...this.seen!, range });
    }
    this.frames();
  }

  /** Draw the other kinds too, one at a time, when nothing has happened for a while: a switch then only shows them. */
  private ahead(): void {
    clearTimeout(this.waiting);
    if (this.x.trace.live || phone()) return;
    this.waiting = window.setTimeout(() => this.later(), REST);
  }
  private later(): void {
    this.idle = whenIdle(() => this.drawAhead());
  }
  private drawAhead(): void {
    const { x, box } = this;
    x.enter();
    if (x.trace.live || x.changed.size || box.hidden || x.places().detail.width <= 2) return;
    if (this.untold) {
      this.tell();
      return this.later();
    }
    const kinds = Object.keys(x.trace.maps) as Kind[];
    if (kinds.some((kind) => kind !== x.state.kind && this.drawOther(x.as(kind)))) this.later();
  }
  /** Draw the map of another kind out of sight; true if it was not there already. */
  private drawOther(who: Who): boolean {
    const { picture, size, view } = measured(who, this.x.places().detail);
    const { node } = this.plots.of(who.state.kind);
    const first = revealed(picture, size, START, who.rowIndex(picture));
    node.classList.add("ahead");
    this.box.append(node);
    const range = rangeFrom(picture, size, first);
    const drawn = this.plots.fill(who, picture, this.x.version, { ...view, range });
    node.remove();
    node.classList.remove("ahead");
    return drawn;
  }

  /* ---- zoom and scrolling ---- */
  private unzoom(): void {
    this.zoom = null;
    this.x.set({ size: {} });
  }
  private wire(drawn: Drawn): void {
    drawn.node.on("plotly_relayout", (change: object) => {
      const axes = axesOf(drawn.node);
      if (!axes || !Object.keys(change).some((key) => key.endsWith("range[0]"))) return;
      drawn.key = "";
      const range = rounded({ x: axes.x.range, y: axes.y.range });
      this.zoom = isWhole(range, this.x.picture()) ? null : range;
      this.reset.hidden = !this.zoom;
      this.frames();
    });
  }
  private scrolled(): void {
    if (!this.size || this.scrolling) return;
    const next = this.scroll.moved(this.first, this.size);
    if (next.x === this.first.x && next.y === this.first.y) return;
    this.scrolling = requestAnimationFrame(() => {
      this.scrolling = 0;
      this.x.enter();
      this.first = next;
      const range = rangeFrom(this.x.picture(), this.size!, next);
      this.tell();
      this.plots.of(this.x.state.kind).key = "";
      const ends = { "xaxis.range": range.x, "yaxis.range": range.y };
      void window.Plotly!.relayout(this.plot, ends).then(() => this.frames());
    });
  }
  private follow(cell: Cell): void {
    if (this.zoom || !this.size) return;
    const next = following(this.first, this.size, cell);
    if (next.x === this.first.x && next.y === this.first.y) return;
    this.first = next;
    this.draw();
  }
  private magnify(picture: Picture, cell: Cell, factor: number): void {
    const axes = axesOf(this.plot);
    if (!axes) return;
    this.zoom = magnified({ x: axes.x.range, y: axes.y.range }, picture, cell, factor);
    this.draw();
  }

  /* ---- pointer and keys ---- */
  private listen(): void {
    const { x, box } = this;
    listenToPointer(box, {
      signal: x.signal,
      cellAt: (event) => (x.trace ? cellAt(this.plot, x.picture(), event) : null),
      hover: (cell) => this.hover(cell),
      enter: () => x.enter(),
      pressed: () => this.tell(),
      click: (cell, event, again) => {
        if (again && this.zoom) {
          this.zoom = null;
          this.draw();
        } else if (event.shiftKey) x.pinCell(cell);
        else x.chooseRow(cell.i, cell);
      },
    });
    const wheel = (event: WheelEvent) => this.scroll.wheel(event) && event.preventDefault();
    box.addEventListener("wheel", wheel, { passive: false });
    box.addEventListener("keydown", (event) => {
      if (!x.trace || (event.target as Element).closest("button") || !this.key(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  private hover(cell: Cell | null): void {
    const { hover } = this.x.state;
    if (cell?.i === hover?.i && cell?.j === hover?.j) return;
    this.x.set({ hover: cell });
  }
  /** What a key does; false: nothing. */
  private key(key: string): boolean {
    const { x } = this;
    const picture = x.picture();
    const cell = x.state.hover || { i: x.rowIndex(picture), j: 0 };
    const next = neighbour(key, cell, picture);
    if (next) {
      this.follow(next);
      x.set({ hover: next });
    } else if (key === "Enter") x.chooseRow(cell.i, cell);
    else if (key === "p" || key === "P") x.pinCell(cell);
    else if (key in MAGNIFY) this.magnify(picture, cell, MAGNIFY[key]);
    else if (key === "Escape" && (this.zoom || x.state.hover)) {
      this.zoom = null;
      x.set({ hover: null });
      this.draw();
    } else return false;
    return true;
  }
}

export const makeHeatmap = (x: Needs): Part => new Heatmap(x);
