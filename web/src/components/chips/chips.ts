/* Source and target tokens as chips. */

import { type Colour, inkOn, rgb, toRgb } from "../../design/colour";
import { el, label, write } from "../../dom/element";
import { colour } from "../../design/scales";
import { clamp } from "../../format/number";
import { cut } from "../../format/text";
import { tagOf } from "../../i18n/language";
import { t } from "../../i18n/words";
import { SPACE, SPECIAL, UNKNOWN } from "../../protocol/flags";
import type { Token } from "../../protocol/messages";
import { askAbout, labAnswers } from "../../state/ask";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import type { Translation } from "../../trace/translation";

type Needs = Pick<
  ExplorerContext,
  "find" | "state" | "trace" | "set" | "pin" | "map" | "colours" | "picture" | "headName"
>;
type Side = "src" | "tgt";
const SIDES: Side[] = ["src", "tgt"];
const FAINTEST = 0.03; // a weight that is not shaded
const SURE = 0.3; // a probability from which a chip is grey

/** Whether two neighbours are pieces of one word. */
const joins = (a?: Token, b?: Token): boolean =>
  !!a && !!b && a.w >= 0 && a.w === b.w && !(b.f & SPACE) && !((a.f | b.f) & SPECIAL);

const chip = (trace: Translation, side: Side, i: number): HTMLElement => {
  const tokens = trace[side];
  const token = tokens[i];
  const language = trace.checkpoint[side];
  const classes = [
    "chip",
    token.f & SPECIAL && "sp",
    token.f & UNKNOWN && "unknown",
    joins(token, tokens[i + 1]) && "glue",
    joins(tokens[i - 1], token) && "glued",
  ];
  const node = el(
    "button",
    {
      type: "button",
      class: classes.filter(Boolean).join(" "),
      lang: tagOf(language),
      "data-i": i,
    },
    cut(token.s, 24),
  );
  if (side === "tgt" && trace.scored)
    node.append(el("i", { text: Math.exp(trace.steps[i].lp).toFixed(2).replace(/^0/, "") }));
  return node;
};

/**
 * A question mark, and words for who does not see it, on the chips of words that may be left out or
 * invented.
 */
const doubt = (node: HTMLElement, side: Side, on: boolean): void => {
  node.classList.toggle("doubted", on);
  node.querySelector(".doubt")?.remove();
  if (!on) return;
  const said = side === "src" ? t("left out?") : t("unsupported?");
  const sign = el("span", { class: "doubt", title: said });
  sign.append(
    el("span", { "aria-hidden": "true", text: "?" }),
    el("span", { class: "vh", text: said }),
  );
  node.append(sign);
};

const shadeChip = (node: HTMLElement, colour: Colour | null, isGrey = false): void => {
  node.style.background = colour ? rgb(colour) : "";
  node.style.color = colour ? (isGrey ? "" : inkOn(colour)) : "";
  node.classList.toggle("shaded", !!colour && !isGrey);
};

const mark = (node: Element, on: boolean): void => {
  if (on) node.setAttribute("aria-current", "step");
  else node.removeAttribute("aria-current");
};

/** Keep the present chip, if there is one, in a box that shows two lines of many. */
const follow = (box: HTMLElement, node?: HTMLElement): void => {
  if (!node || box.scrollHeight <= box.clientHeight || box.matches(":hover")) return;
  const above = node.offsetTop < box.scrollTop + 4;
  if (above || node.offsetTop + node.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = node.offsetTop - 4;
};

type Shades = Record<Side, (number | null)[] | null>;

/**
 * Weights that shade each side, or null: the row of the step (or of the token pointed at), or a
 * column of it.
 */
const shades = (x: Needs): Shades => {
  const { kind, step, query, peek } = x.state;
  const { columns, rows } = x.trace.maps[kind];
  const map = x.map();
  if (kind === "cross" && peek?.side === "src")
    return {
      src: null,
      tgt: x.trace.tgt.map((_, i) => (i < rows ? map[i * columns + peek.id] : 0)),
    };
  const side = kind === "encoder" ? "src" : "tgt";
  const row = peek?.side === side ? peek.id : kind === "encoder" ? query : step;
  const values = Array.from(map.subarray(row * columns, (row + 1) * columns));
  return kind === "decoder"
    ? { src: null, tgt: x.trace.tgt.map((_, i) => (i + 1 <= row ? values[i + 1] : null)) }
    : { src: values, tgt: null };
};

/** What a pointer and keys do to the chips of one side. */
const listen = (x: Needs, side: Side, box: HTMLElement): void => {
  const at = (event: Event): number | null => {
    const node = (event.target as Element).closest<HTMLElement>(".chip");
    return node ? Number(node.dataset.i) : null;
  };
  const peek = (event: Event) => {
    const id = at(event);
    if (id !== null) x.set({ peek: { side, id } });
  };
  box.addEventListener("mouseover", peek);
  box.addEventListener("mouseleave", () => x.set({ peek: null }));
  box.addEventListener("focusin", (event) => {
    if ((event.target as Element).matches(":focus-visible")) peek(event);
  });
  box.addEventListener("focusout", () => x.set({ peek: null }));
  box.addEventListener("click", (event) => {
    const i = at(event);
    if (i === null) return;
    if (side === "tgt") x.set({ step: i, peek: null });
    else if (x.state.kind === "encoder") x.set({ query: i, peek: null });
    else x.pin("columns", i);
  });
  box.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const i = at(event);
    if (!move || i === null) return;
    event.preventDefault();
    event.stopPropagation();
    (box.children[clamp(i + move, 0, box.children.length - 1)] as HTMLElement).focus();
  });
};

/** Tokens of the cell that is pointed at. */
const linkedTokens = (x: Needs): { rows: number[]; columns: number[] } => {
  const { hover } = x.state;
  if (!hover) return { rows: [], columns: [] };
  const { rows, columns } = x.picture();
  return { rows: rows[hover.i]?.ids || [], columns: columns[hover.j]?.ids || [] };
};

/** What says beside each side what its chips are shaded by. */
const makeNotes = (x: Needs) => {
  const src = x.find(".src-note");
  const tgt = x.find(".row-name:not(.steprow) > small:not(.src-note)");
  return (shade: Shades) => {
    const weighed = t("weight in {head}", { head: x.headName() });
    write(src, shade.src ? weighed : "");
    write(tgt, shade.tgt ? weighed : x.trace.scored ? t("probability") : "");
  };
};

const NEEDS = "trace kind map step query hover peek pins colours language playing marks".split(" ");

/** `following` looks for the present among new chips, once all else of the frame is written. */
export const makeChips = (x: Needs): Part & { following: Part } => {
  const boxes: Record<Side, HTMLElement> = {
    src: x.find(".chips.src"),
    tgt: x.find(".chips.tgt"),
  };
  const note = makeNotes(x);
  let built: Translation | null = null;
  for (const side of SIDES) listen(x, side, boxes[side]);
  const where = x.find(".went");
  where.addEventListener("click", () => askAbout(x.trace, whereAsks()));

  const build = () => {
    for (const side of SIDES)
      boxes[side].replaceChildren(...x.trace[side].map((_, i) => chip(x.trace, side, i)));
    built = x.trace;
  };
  const chips = (side: Side) => [...boxes[side].children] as HTMLElement[];
  const shaded = (node: HTMLElement, weight: number | null | undefined) => {
    const seen = typeof weight === "number" && weight > FAINTEST;
    shadeChip(node, seen ? x.colours()[Math.round(256 * clamp(weight, 0, 1))] : null);
  };

  const paintDoubts = () => {
    for (const side of SIDES) {
      const ids = new Set(x.trace.marks?.[side].flatMap((each) => each.ids));
      chips(side).forEach((node, i) => doubt(node, side, ids.has(i)));
    }
  };
  /** The source token that was chosen last; null: none. */
  const chosen = (): number | null => {
    const { kind, query, pins } = x.state;
    if (kind === "decoder") return null;
    return kind === "encoder" ? query : (pins.columns.at(-1) ?? null);
  };
  /** The view that says where the chosen token went. */
  const whereAsks = () => {
    const doubted = x.trace.marks?.src.some(({ ids }) => ids.includes(chosen()!));
    return doubted ? "omissions" : "align";
  };
  const paintWhere = () => {
    const i = chosen();
    const token = i === null || x.trace.live ? undefined : x.trace.src[i];
    where.hidden = !token || !!(token.f & SPECIAL) || !labAnswers(whereAsks());
    if (!token) return;
    const { g, s: texts } = x.trace.words!.src;
    label(where, t("Where did {word} go?", { word: cut(texts[g[i!]]) }));
  };
  const titled = (node: HTMLElement, title: string) => {
    if (node.title !== title) node.title = title;
  };
  const paintSource = (weights: (number | null)[] | null) => {
    const { kind, peek, pins } = x.state;
    const linked = linkedTokens(x);
    chips("src").forEach((node, i) => {
      const weight = weights?.[i];
      shaded(node, weight);
      titled(node, typeof weight === "number" ? weight.toFixed(4) : "");
      const peeked = peek?.side === "src" && peek.id === i;
      const inRow = kind === "encoder" && linked.rows.includes(i);
      const inColumn = kind !== "decoder" && linked.columns.includes(i);
      node.classList.toggle("link", peeked || inRow || inColumn);
      node.classList.toggle("pinned", kind !== "decoder" && pins.columns.includes(i));
      mark(node, isPresent("src", i));
    });
  };
  const paintTarget = (weights: (number | null)[] | null) => {
    const { kind, step, peek, playing } = x.state;
    const linked = linkedTokens(x);
    const lift = toRgb(colour("lift"));
    const grey = toRgb(colour("chip-grey"));
    chips("tgt").forEach((node, i) => {
      const { lp, h } = x.trace.steps[i];
      const p = Math.exp(lp);
      const share = Math.max(0, (p - SURE) / (1 - SURE)) ** 1.2 * 0.78;
      const between = lift.map((value, k) => Math.round(value + (grey[k] - value) * share));
      if (weights) shaded(node, weights[i]);
      else shadeChip(node, between as Colour, true);
      if (x.trace.scored)
        titled(node, `p = ${p.toFixed(4)}, ${t("entropy")} ${h.toFixed(2)} ${t("nats")}`);
      const peeked = peek?.side === "tgt" && peek.id === i;
      node.classList.toggle(
        "link",
        kind !== "encoder" && i !== step && (peeked || linked.rows.includes(i)),
      );
      node.classList.toggle("future", playing && i > step);
      mark(node, isPresent("tgt", i));
    });
  };

  const isPresent = (side: Side, i: number) => {
    const { kind, query, step } = x.state;
    return side === "src" ? kind === "encoder" && i === query : kind !== "encoder" && i === step;
  };
  const followAll = () =>
    SIDES.forEach((side) =>
      follow(
        boxes[side],
        chips(side).find((_, i) => isPresent(side, i)),
      ),
    );

  const paint = (changed: Changed) => {
    const anew = built !== x.trace;
    if (anew) build();
    // before anything is written: a look at a place would lay the page out once more
    else followAll();
    if (anew || changed.has("marks") || changed.has("language")) paintDoubts();
    paintWhere();
    const shade = shades(x);
    paintSource(shade.src);
    paintTarget(shade.tgt);
    note(shade);
  };
  return { needs: NEEDS, paint, following: { needs: ["trace"], paint: followAll } };
};
