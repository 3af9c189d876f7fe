/* All heads at once: one canvas, one tile a head, on the same colour scale as the large map. */

import { el } from "../../dom/element";
import { explained } from "../../dom/tip";
import { cancelIdle, dark, phone, whenIdle } from "../../dom/screen";
import { clamp } from "../../format/number";
import { t, tParts } from "../../i18n/words";
import type { Kind, Place, Role } from "../../protocol/messages";
import type { Sheet } from "../../plot/cells";
import { tileImages } from "../../plot/tiles";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import type { View } from "../../state/view";
import { ROLES, kindName, roleName, usually } from "../../trace/names";
import { roleBar, strongestHead } from "../../trace/roles";
import { type Layout, type Tile, layOut } from "./layout";
import { type Marks, paintTiles } from "./paint";

type Needs = Pick<
  ExplorerContext,
  | "signal"
  | "enter"
  | "find"
  | "state"
  | "trace"
  | "version"
  | "set"
  | "say"
  | "overlay"
  | "places"
  | "colours"
  | "headName"
  | "roleOf"
>;

/** What the tiles may be sorted by. */
const sorts = (): [value: View["sort"], name: string][] => [
  ["layer", t("layer")],
  ["entropy", t("entropy")],
  ["confidence", t("largest weight")],
  ["distance", t("distance")],
  ["special", t("on specials")],
  ["punctuation", t("on punctuation")],
];

/** The heads in the order of their tiles: all of them, or on a phone those of one layer. */
const placesOf = ({ state, trace }: Needs, small: boolean): Place[] => {
  const { kind, layer, sort } = state;
  const { layers, heads } = trace.maps[kind];
  const places: Place[] = [];
  for (let l = 0; l < layers; l++)
    for (let h = 0; h < heads; h++)
      if (!small || sort !== "layer" || l === layer) places.push([l, h]);
  if (sort === "layer" || !trace.heads) return places;
  const values = trace.heads[kind][sort];
  const way = sort === "confidence" ? -1 : 1;
  return places.sort(([l, h], [m, g]) => way * (values[l * heads + h] - values[m * heads + g]));
};

/** The cell of a tile that the pointer is on, or null. */
type Pointed = Tile & { row: number; column: number };

const pointedAt = (x: Needs, canvas: HTMLElement, tiles: Tile[], event: MouseEvent) => {
  const rect = canvas.getBoundingClientRect();
  const px = event.clientX - rect.left;
  const py = event.clientY - rect.top;
  const tile = tiles.find(
    (each) => px >= each.x && px < each.x + each.w && py >= each.y && py < each.y + each.tall,
  );
  if (!tile) return null;
  const { kind } = x.state;
  const map = x.trace.maps[kind];
  const row =
    x.state.tile === "row"
      ? x.trace.rowOf(kind, x.state)
      : Math.floor(((py - tile.y) / tile.tall) * map.rows);
  const column = Math.floor(((px - tile.x) / tile.w) * map.columns);
  return {
    ...tile,
    row: clamp(row, 0, map.rows - 1),
    column: clamp(column, 0, map.columns - 1),
  };
};

/** What is said of a cell. */
const told = ({ state: { kind }, trace }: Needs, cell: Pointed): (Node | string)[] => {
  const weight = trace.head(kind, cell.l, cell.h)[
    cell.row * trace.maps[kind].columns + cell.column
  ];
  const usual = usually(trace, kind, cell.l, cell.h);
  const values = {
    head: `L${cell.l + 1} H${cell.h + 1}` + (usual ? `, ${usual.text}` : ""),
    reads: trace.queries(kind)[cell.row].s,
    key: trace.keys(kind)[cell.column].s,
    weight: weight.toFixed(3),
  };
  if (kind === "decoder" && cell.column > cell.row)
    return tParts("{head}: {key} lies in the future of this row", values);
  if (kind === "encoder") return tParts("{head}: {reads} looks at {key} {weight}", values);
  return tParts("{head}: reads {reads}, predicts {predicts}, looks at {key} {weight}", {
    ...values,
    predicts: trace.tgt[cell.row].s,
  });
};

const FAR = 1e9; // more tiles than there are

/** Another head by the keyboard: to a neighbour, to the first or the last, on a phone to the next layer. */
const moveBy = (x: Needs, { tiles, columns }: Layout, key: string): Partial<View> | null => {
  const moves: Record<string, number> = {
    ArrowUp: -columns,
    ArrowDown: columns,
    ArrowLeft: -1,
    ArrowRight: 1,
    Home: -FAR,
    End: FAR,
  };
  const move = moves[key];
  if (move === undefined) return null;
  const { kind, layer, head, sort } = x.state;
  const now = tiles.findIndex((tile) => tile.l === layer && tile.h === head);
  const last = tiles.length - 1;
  if (phone() && sort === "layer" && (now + move < 0 || now + move > last))
    return { layer: clamp(layer + Math.sign(move), 0, x.trace.maps[kind].layers - 1) };
  const next =
    Math.abs(move) === FAR
      ? clamp(now + move, 0, last)
      : (now + move + tiles.length) % tiles.length;
  return { layer: tiles[next].l, head: tiles[next].h, hover: null };
};

/** Every kind's maps as small pictures, several cells to a pixel by their largest weight, so that no peak is lost. */
const makeSheets = (x: Needs) => {
  let sheets = new Map<Kind, Sheet>();
  let state = "";
  let soon = 0;
  const of = (kind: Kind, tileWidth: number): Sheet => {
    const { scale, palette } = x.state;
    const limit = Math.max(24, Math.ceil(tileWidth * devicePixelRatio));
    const now = [scale, palette, dark(), limit, x.version].join();
    if (now !== state) {
      state = now;
      sheets = new Map();
    }
    const sheet = sheets.get(kind) ?? tileImages(x.trace, kind, x.colours(), limit, scale);
    sheets.set(kind, sheet);
    return sheet;
  };
  /** Make the other kinds' while there is nothing else to do, so that a switch finds them. */
  const prepare = (tileWidth: number) => {
    if (soon || x.trace.live) return;
    soon = whenIdle(() => {
      soon = 0;
      x.enter();
      if (x.trace.live) return;
      const next = (Object.keys(x.trace.maps) as Kind[]).find((kind) => !sheets.has(kind));
      if (!next) return;
      of(next, tileWidth);
      prepare(tileWidth);
    });
  };
  x.signal.addEventListener("abort", () => cancelIdle(soon));
  return { of, prepare };
};

/** Whoever looks for a role is shown the head that has it most. */
const headWith = ({ trace, state }: Needs, role: Role | null): Partial<View> => {
  const place = role && strongestHead(trace, state.kind, role);
  return place ? { layer: place[0], head: place[1], hover: null } : {};
};

const span = (name: string, text: string, style: string): HTMLElement =>
  el("span", { class: name, text, style });

export const makeMosaic = (x: Needs): Part & { canvas: () => HTMLCanvasElement } => {
  const box = x.find("#attention-mosaic");
  const roles = x.find(".roles");
  const layers = x.find(".layers");
  const sort = x.find<HTMLSelectElement>(".sort");
  const canvas = el("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "mosaic",
  });
  const frame = el("div", { class: "tile-frame", "aria-hidden": "true" });
  const heads = el("div", { class: "head-labels", "aria-hidden": "true" });
  const rows = el("div", { class: "layer-labels", "aria-hidden": "true" });
  box.append(heads, rows, canvas, frame);
  const sheets = makeSheets(x);
  let layout: Layout | null = null;
  const isChosen = ({ l, h }: Tile) => l === x.state.layer && h === x.state.head;
  const inGrid = () => x.state.sort === "layer" && !phone();

  const marks = (): Marks => {
    const { kind, role, overlay, playing, tile: mode, sort: by } = x.state;
    return {
      row: x.trace.rowOf(kind, x.state),
      rows: x.trace.maps[kind].rows,
      rowOnly: mode === "row",
      future: playing && kind !== "encoder",
      playing,
      isChosen,
      isFaded: ({ l, h }) => !!role && x.roleOf(kind, l, h) !== role,
      overlay: ({ l, h }) => overlay.findIndex(([a, b]) => a === l && b === h),
      name: ({ l, h }) => (inGrid() ? null : by === "layer" ? `H${h + 1}` : `L${l + 1} H${h + 1}`),
    };
  };
  const placeFrame = ({ tiles }: Layout) => {
    const chosen = tiles.find(isChosen);
    frame.hidden = !chosen || x.state.view === "aggregate";
    if (!chosen) return;
    Object.assign(frame.style, {
      left: canvas.offsetLeft + chosen.x - 2 + "px",
      top: canvas.offsetTop + chosen.y - 2 + "px",
      width: chosen.w + 4 + "px",
      height: chosen.tall + 4 + "px",
    });
  };

  const labels = ({ tiles, columns, lines, h, gap }: Layout) => {
    const { layer, head, kind } = x.state;
    const grid = inGrid();
    const across = grid ? tiles.slice(0, columns) : [];
    heads.replaceChildren(
      ...across.map(({ h: n, x: left, w }) =>
        span(n === head ? "on" : "", "H" + (n + 1), `left:${left}px;width:${w}px`),
      ),
    );
    rows.replaceChildren(
      ...Array.from({ length: phone() ? 0 : lines }, (_, i) =>
        span(
          grid && i === layer ? "on" : "",
          grid ? "L" + (i + 1) : String(i * columns + 1),
          `top:${i * (h + gap)}px;height:${h}px`,
        ),
      ),
    );
    layers.replaceChildren(
      ...Array.from({ length: x.trace.maps[kind].layers }, (_, l) =>
        el("button", {
          type: "button",
          "aria-pressed": l === layer,
          text: "L" + (l + 1),
          on: { click: () => x.set({ layer: l }) },
        }),
      ),
    );
    const role = x.roleOf(kind, layer, head);
    canvas.setAttribute(
      "aria-label",
      t("All heads of {kind}. Arrow keys choose; chosen: {head}, {role}", {
        kind: kindName(kind),
        head: x.headName(),
        role: role && roleName(role),
      }),
    );
  };

  const roleButton = (value: Role | null, name: string, count: number) => {
    const on = x.state.role === value;
    const button = el(
      "button",
      {
        type: "button",
        "aria-pressed": on,
        on: { click: () => x.set({ ...headWith(x, on ? null : value), role: on ? null : value }) },
      },
      name,
      el("span", { text: String(count) }),
    );
    button.setAttribute("aria-label", t("{name}, {n} heads", { name, n: count }));
    return value ? explained(button, roleBar(value)) : button;
  };
  const filters = () => {
    const { kind } = x.state;
    const found = x.trace.heads?.[kind].role ?? [];
    const count = (role: Role) => found.filter((each) => each === role).length;
    const all = x.trace.maps[kind].layers * x.trace.maps[kind].heads;
    roles.replaceChildren(
      roleButton(null, t("All"), all),
      ...ROLES.filter(count).map((role) => roleButton(role, roleName(role), count(role))),
    );
    sort.replaceChildren(...sorts().map(([value, text]) => el("option", { value, text })));
    sort.value = x.state.sort;
  };
  sort.addEventListener("change", () => x.set({ sort: sort.value as View["sort"] }));

  const at = (event: MouseEvent): Pointed | null =>
    x.trace && layout ? pointedAt(x, canvas, layout.tiles, event) : null;
  canvas.addEventListener("mousemove", (event) => {
    const cell = at(event);
    canvas.style.cursor = cell ? "pointer" : "";
    x.say(cell && told(x, cell));
  });
  canvas.addEventListener("mouseleave", () => x.say(null));
  canvas.addEventListener("click", (event) => {
    const cell = at(event);
    if (!cell) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) return x.overlay(cell.l, cell.h);
    const view = x.state.view === "aggregate" ? "heatmap" : x.state.view;
    x.set({ layer: cell.l, head: cell.h, hover: null, view });
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "+") return x.overlay(x.state.layer, x.state.head);
    const patch = layout && moveBy(x, layout, event.key);
    if (!patch) return;
    event.preventDefault();
    event.stopPropagation();
    x.set(patch);
  });

  const named = ["trace", "kind", "layer", "head", "role", "sort", "language", "size"];
  const paint = (changed: Changed) => {
    const { width, room } = x.places().mosaic;
    const small = phone();
    const { kind } = x.state;
    layout = layOut(placesOf(x, small), x.trace.maps[kind].heads, { width, room, small });
    if (width <= 0) return;
    paintTiles(canvas, layout, sheets.of(kind, layout.w), marks());
    placeFrame(layout);
    sheets.prepare(layout.w);
    if (named.some((name) => changed.has(name))) {
      labels(layout);
      filters();
    }
  };
  return {
    needs: [...named, ..."step query colours playing overlay tile view".split(" ")],
    paint,
    canvas: () => canvas,
  };
};
