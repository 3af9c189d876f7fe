/* The head view: two lines of tokens and the links between them; several heads may lie over each
   other. */

import { HEAD_COLOURS } from "../../design/scales";
import { el } from "../../dom/element";
import { phone } from "../../dom/screen";
import { clamp, two } from "../../format/number";
import { cut } from "../../format/text";
import { t, tParts } from "../../i18n/words";
import type { ExplorerContext, Part } from "../../state/context";
import { type Group, type Picture, slice, strongest } from "../../trace/picture";
import { type Focus, type Layer, drawArcs, lineHeight } from "./picture";

type Needs = Pick<
  ExplorerContext,
  | "find"
  | "state"
  | "trace"
  | "say"
  | "room"
  | "slicing"
  | "picture"
  | "colours"
  | "rowIndex"
  | "headName"
  | "chooseRow"
  | "pin"
  | "overlay"
>;

const LEGEND = 36; // pixels of one line of it
const IN_A_LINE = 6;

const layersOf = (x: Needs): Layer[] => {
  const { kind, view, overlay } = x.state;
  if (!overlay.length || view === "aggregate")
    return [{ name: x.headName(), picture: x.picture(), colour: null }];
  return overlay.map(([l, h], n) => ({
    name: `L${l + 1} H${h + 1}`,
    picture: slice(x.trace, kind, x.trace.head(kind, l, h), x.slicing()),
    colour: HEAD_COLOURS[n % HEAD_COLOURS.length],
  }));
};

const pinned = (groups: Group[], ids: number[]): number[] =>
  groups.flatMap((group, i) => (group.ids.some((id) => ids.includes(id)) ? [i] : []));

/** The tokens whose links alone are shown: pinned, else (by choice) the present row. */
const chosenFocus = (x: Needs, picture: Picture): Focus | null => {
  const { pins, only } = x.state;
  const rows = pinned(picture.rows, pins.rows);
  const columns = pinned(picture.columns, pins.columns);
  if (rows.length || columns.length) return { rows, columns };
  return only ? { rows: [x.rowIndex(picture)], columns: [] } : null;
};

/** By what rows are named; a phone has room for one of two. */
const labelsShown = (x: Needs): "both" | "reads" | "predicts" =>
  phone() && x.state.labels === "both" ? "predicts" : x.state.labels;

const rowText = (x: Needs, group: Group): string => {
  if (x.state.kind === "encoder") return cut(group.text, 16);
  const { reads = "", predicts = "" } = group;
  const which = labelsShown(x);
  if (which === "both") return `${cut(reads, 10)} → ${cut(predicts, 10)}`;
  return cut(which === "reads" ? reads : predicts, 14);
};

const rowsTitle = (x: Needs): string => {
  if (x.state.kind === "encoder") return t("query");
  const which = labelsShown(x);
  if (which === "reads") return t("query (reads)");
  return which === "predicts" ? t("predicts") : t("reads → predicts");
};

/** What is said of a token that is pointed at: where it looks, or who looks at it. */
const sentence = (picture: Picture, { rows, columns }: Focus): (Node | string)[] => {
  if (rows.length) {
    const row = picture.rows[rows[0]];
    const links = strongest(picture, rows[0], 3);
    return tParts("{token} looks at {links}", {
      token: row.reads || row.text,
      links: links.map((link) => `${link.text} ${two(link.weight)}`).join(", "),
    });
  }
  const [column] = columns;
  const from = picture.z
    .map((values, i) => ({ weight: values[column], i }))
    .filter(({ i }) => !picture.masked(i, column))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 3);
  const said = from.map(({ weight, i }) => {
    const { predicts, text } = picture.rows[i];
    return `${predicts || text} ${two(weight)}`;
  });
  return tParts("{token} is looked at by {links}", {
    token: picture.columns[column].text,
    links: said.join(", "),
  });
};

const tokenAt = (event: Event): HTMLElement | null =>
  (event.target as Element).closest?.<HTMLElement>(".token") ?? null;

export const makeArcs = (x: Needs): Part & { svg: () => SVGSVGElement } => {
  const box = x.find("#attention-arcs");
  let held: Focus | null = null;

  const legend = (layers: Layer[]) => {
    const entry = ({ name, colour }: Layer, n: number) =>
      el(
        "button",
        {
          type: "button",
          class: "btn",
          title: t("Remove"),
          on: { click: () => x.overlay(...x.state.overlay[n]) },
        },
        el("span", { class: "dot", style: `background:${colour}` }),
        name,
        " ×",
      );
    return el("div", { class: "legend" }, ...layers.map(entry));
  };
  const draw = () => {
    const layers = layersOf(x);
    const [{ picture, colour }] = layers;
    const width = box.clientWidth;
    if (!width) return;
    const below = colour ? LEGEND * Math.ceil(layers.length / IN_A_LINE) : 0;
    const label = t("Links of {head} as arcs", {
      head: layers.map((each) => each.name).join(", "),
    });
    const svg = drawArcs({
      layers,
      width,
      line: lineHeight(picture, x.room(box) - below),
      small: phone(),
      focus: held ?? chosenFocus(x, picture),
      now: x.rowIndex(picture),
      table: x.colours(),
      rowText: (group) => rowText(x, group),
      titles: [rowsTitle(x), t("key")],
      label,
    });
    box.replaceChildren(svg, ...(colour ? [legend(layers)] : []));
    box.setAttribute("aria-label", label);
  };

  const over = (event: Event) => {
    const node = tokenAt(event);
    const i = Number(node?.dataset.i);
    const isRow = node?.dataset.side === "rows";
    const next = node && { rows: isRow ? [i] : [], columns: isRow ? [] : [i] };
    if (JSON.stringify(next) === JSON.stringify(held)) return;
    held = next;
    draw();
    x.say(held && sentence(x.picture(), held));
  };
  box.addEventListener("mouseover", over);
  box.addEventListener("mouseleave", over);
  box.addEventListener("click", (event) => {
    const node = tokenAt(event);
    if (!node) return;
    const { rows, columns } = x.picture();
    const i = Number(node.dataset.i);
    held = null;
    if (node.dataset.side === "columns") x.pin("columns", columns[i].ids[0]);
    else if (event.shiftKey) x.pin("rows", rows[i].ids[0]);
    else x.chooseRow(i);
  });
  box.addEventListener("keydown", (event) => {
    const move = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!move || !x.trace) return;
    event.preventDefault();
    event.stopPropagation();
    const picture = x.picture();
    x.chooseRow(clamp(x.rowIndex(picture) + move, 0, picture.rows.length - 1));
  });

  const paint = () => {
    box.hidden = x.state.view !== "arcs";
    if (!box.hidden) draw();
  };
  return {
    needs:
      "trace kind map view step query colours labels unit specials pins overlay only language size".split(
        " ",
      ),
    paint,
    svg: () => box.querySelector("svg")!,
  };
};
