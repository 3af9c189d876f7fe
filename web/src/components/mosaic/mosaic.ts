/* All heads at once: one canvas, one tile a head, on the same colour scale as the large map. */

import { el } from "../../dom/element";
import { phone } from "../../dom/screen";
import { t } from "../../i18n/words";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import { kindName, roleName } from "../../trace/names";
import { makeFilters } from "./filters";
import { moveBy } from "./keys";
import { makeLabels } from "./labels";
import { type Layout, layOut } from "./layout";
import { isChosen, marksOf } from "./marks";
import { placesOf } from "./order";
import { paintTiles } from "./paint";
import { type Pointed, pointedAt, told } from "./pointer";
import { makeSheets } from "./sheets";

type Needs = Pick<
  ExplorerContext,
  | "signal"
  | "enter"
  | "find"
  | "state"
  | "trace"
  | "version"
  | "set"
  | "bring"
  | "say"
  | "overlay"
  | "places"
  | "colours"
  | "headName"
  | "roleOf"
>;

/** What names and filters are painted for. */
const NAMED = ["trace", "kind", "layer", "head", "role", "sort", "language", "size"];
/**
 * What leaves every tile in its place: a replay does not make the browser lay the page out for a
 * look at the room.
 */
const STILL = ["step", "query", "playing", "tile", "overlay", "colours"];

class Mosaic implements Part {
  readonly needs = [...NAMED, ...STILL, "view"];
  private readonly canvas = el("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "mosaic",
  });
  private readonly frame = el("div", { class: "tile-frame", "aria-hidden": "true" });
  private readonly sheets: ReturnType<typeof makeSheets>;
  private readonly labels: ReturnType<typeof makeLabels>;
  private readonly filters: () => void;
  private layout: Layout | null = null;
  private pointed: Pointed | null = null;

  constructor(private readonly x: Needs) {
    this.sheets = makeSheets(x);
    this.labels = makeLabels(x);
    this.filters = makeFilters(x);
    x.find("#attention-mosaic").append(...this.labels.nodes, this.canvas, this.frame);
    this.listen();
  }

  paint(changed: Changed): void {
    const { x, canvas, sheets } = this;
    const moved = !this.layout || [...NAMED, "view"].some((name) => changed.has(name));
    const layout = moved ? (this.layout = this.laidOut()) : this.layout!;
    if (layout.width <= 0) return;
    paintTiles(canvas, layout, sheets.of(x.state.kind, layout.w), marksOf(x));
    if (moved) this.placeFrame(layout);
    sheets.prepare(layout.w);
    if (!NAMED.some((name) => changed.has(name))) return;
    this.labels.paint(layout);
    this.name();
    this.filters();
  }
  private laidOut(): Layout {
    const { x } = this;
    const { width, room } = x.places().mosaic;
    const small = phone();
    const { heads } = x.trace.maps[x.state.kind];
    return layOut(placesOf(x, small), heads, { width, room, small });
  }
  private placeFrame({ tiles }: Layout): void {
    const { x, canvas, frame } = this;
    const chosen = tiles.find((tile) => isChosen(x, tile));
    frame.hidden = !chosen || x.state.view === "aggregate";
    if (!chosen) return;
    Object.assign(frame.style, {
      left: canvas.offsetLeft + chosen.x - 2 + "px",
      top: canvas.offsetTop + chosen.y - 2 + "px",
      width: chosen.w + 4 + "px",
      height: chosen.tall + 4 + "px",
    });
  }
  private name(): void {
    const { x } = this;
    const { kind, layer, head } = x.state;
    const role = x.roleOf(kind, layer, head);
    const label = t("All heads of {kind}. Arrow keys choose; chosen: {head}, {role}", {
      kind: kindName(kind),
      head: x.headName(),
      role: role && roleName(role),
    });
    this.canvas.setAttribute("aria-label", label);
  }

  private at(event: MouseEvent): Pointed | null {
    const { x, canvas, layout } = this;
    return x.trace && layout ? pointedAt(x, canvas, layout.tiles, event) : null;
  }
  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("mousemove", (event) => this.point(this.at(event)));
    canvas.addEventListener("mouseleave", () => this.point(null));
    canvas.addEventListener("click", (event) => this.clicked(event));
    canvas.addEventListener("keydown", (event) => this.typed(event));
  }
  /** Say what is pointed at; its weight once its map is there. */
  private point(cell: Pointed | null): void {
    const { x, canvas } = this;
    this.pointed = cell;
    canvas.style.cursor = cell ? "pointer" : "";
    x.say(cell && told(x, cell));
    const coming = cell && x.bring(x.state.kind, [[cell.l, cell.h]]);
    void coming?.then(
      () => this.pointed === cell && !x.signal.aborted && this.point(cell),
      () => undefined, // the dots stay
    );
  }
  private clicked(event: MouseEvent): void {
    const { x } = this;
    const cell = this.at(event);
    if (!cell) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) return x.overlay(cell.l, cell.h);
    const view = x.state.view === "aggregate" ? "heatmap" : x.state.view;
    x.set({ layer: cell.l, head: cell.h, hover: null, view });
  }
  private typed(event: KeyboardEvent): void {
    const { x, layout } = this;
    if (event.key === "Enter" || event.key === "+") return x.overlay(x.state.layer, x.state.head);
    const patch = layout && moveBy(x, layout, event.key);
    if (!patch) return;
    event.preventDefault();
    event.stopPropagation();
    x.set(patch);
  }
}

export const makeMosaic = (x: Needs): Part => new Mosaic(x);
