/* The head switchboard: what each head's silence changes, and which heads are off. */

import { inkOn, lookup, paintBar, rgb } from "../../design/colour";
import { el } from "../../dom/element";
import { clamp, signed } from "../../format/number";
import { t } from "../../i18n/words";
import type { Board } from "../../protocol/lab";
import { KINDS, type Kind, type Place, type Role } from "../../protocol/messages";

/** A head by its name: "cross:2:4". */
type HeadId = string;
const idOf = (kind: Kind, layer: number, head: number): HeadId => `${kind}:${layer}:${head}`;

const kindTitle = (kind: Kind): string =>
  ({ encoder: t("Encoder"), decoder: t("Decoder"), cross: t("Cross") })[kind];

const roleWord = (role: Role): string =>
  ({
    aligns: t("aligns"),
    previous: t("previous"),
    same: t("same"),
    next: t("next"),
    sink: t("sink"),
    diffuse: t("diffuse"),
    mixed: t("mixed"),
  })[role];

const STEPS: Record<string, Place> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};
const NAMED = 3; // heads that are called by name
const LEAST = 0.5; // nats that the scale reaches at least

/** One line of the table that goes with a file. */
export interface HeadChange {
  attention: Kind;
  layer: number;
  head: number;
  role: Role;
  change: number;
  gate: number;
}

export class Switchboard {
  private kind: Kind = "cross";
  private boards: Partial<Record<Kind, Board>> = {};
  /** Gates of the heads that are off. */
  private off = new Map<HeadId, number>();
  /** The heads that were touched last: the slider moves their gates. */
  private held: HeadId[] = [];

  constructor(
    private readonly find: <E extends Element = HTMLElement>(selector: string) => E,
    private readonly isBusy: () => boolean,
  ) {
    this.find(".lab-grid").addEventListener("keydown", (event) => this.arrow(event));
    const slider = this.find<HTMLInputElement>(".lab-gate input");
    slider.addEventListener("input", () => {
      for (const id of this.held) this.off.set(id, slider.valueAsNumber);
      this.paint();
    });
  }

  /* ---- what is known, and what is off ---- */
  clear(): void {
    this.boards = {};
    this.off = new Map();
    this.held = [];
  }
  /** The kinds of attention, the one that is shown first. */
  get kinds(): Kind[] {
    return [this.kind, ...KINDS.filter((kind) => kind !== this.kind)];
  }
  get known(): boolean {
    return Object.keys(this.boards).length > 0;
  }
  /** Whether the kind that is shown was measured. */
  get measured(): boolean {
    return !!this.boards[this.kind];
  }
  get count(): number {
    return this.off.size;
  }
  take(board: Board): void {
    this.boards[board.kind] = board;
  }
  /** Switch off the head that the translation needs most. */
  switchNeediest(kind: Kind): void {
    const { values } = this.boards[kind]!;
    const least = Math.min(...values.flat());
    const layer = values.findIndex((row) => row.includes(least));
    this.switchOff([idOf(kind, layer, values[layer].indexOf(least))]);
  }
  gates(): Partial<Record<Kind, number[][]>> {
    const known = Object.values(this.boards);
    return Object.fromEntries(
      known.map(({ kind, values }) => [
        kind,
        values.map((row, l) => row.map((_, h) => this.off.get(idOf(kind, l, h)) ?? 1)),
      ]),
    );
  }
  changes(): HeadChange[] {
    return KINDS.flatMap((kind) => {
      const { values = [], roles = [] } = this.boards[kind] ?? {};
      return values.flatMap((row, l) =>
        row.map((change, h) => ({
          attention: kind,
          layer: l + 1,
          head: h + 1,
          role: roles[l][h],
          change,
          gate: this.off.get(idOf(kind, l, h)) ?? 1,
        })),
      );
    });
  }
  private switchOff(heads: HeadId[]): void {
    for (const each of heads) this.off.set(each, 0);
    this.held = heads;
  }
  private toggle(heads: HeadId[]): void {
    if (heads.every((each) => this.off.has(each))) {
      for (const each of heads) this.off.delete(each);
      this.held = [];
    } else this.switchOff(heads);
    this.paint();
  }

  /* ---- drawing ---- */
  paint(): void {
    const grid = this.find(".lab-grid");
    const board = this.boards[this.kind];
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.head;
    this.paintKinds();
    this.paintPresets(board);
    this.paintGate();
    this.find(".lab-legend").replaceChildren();
    if (!board) {
      const text = this.isBusy()
        ? t("Each head is being switched off alone …")
        : t("Press Run to switch off each head in turn.");
      return grid.replaceChildren(el("p", { class: "muted", text }));
    }
    const limit = Math.max(LEAST, ...board.values.flat().map(Math.abs));
    grid.style.setProperty("--heads", String(board.values[0].length));
    grid.replaceChildren(...this.cells(board, limit));
    this.paintLegend(board, limit);
    if (focused) this.find(`[data-head="${focused}"]`)?.focus();
  }
  private paintKinds(): void {
    const button = (kind: Kind) => {
      const click = () => {
        this.kind = kind;
        this.paint();
      };
      const pressed = String(kind === this.kind);
      const text = kindTitle(kind);
      return el("button", { type: "button", "aria-pressed": pressed, text, on: { click } });
    };
    this.find(".lab-kinds").replaceChildren(...KINDS.map(button));
  }
  private cells({ kind, values, roles }: Board, limit: number): HTMLElement[] {
    const across = values[0].map((_, h) =>
      this.line(
        `H${h + 1}`,
        values.map((_, l) => idOf(kind, l, h)),
      ),
    );
    const rows = values.map((row, l) => [
      this.line(
        `L${l + 1}`,
        row.map((_, h) => idOf(kind, l, h)),
      ),
      ...row.map((value, h) => this.cell([l, h], value, roles[l][h], limit)),
    ]);
    return [el("span"), ...across, ...rows.flat()];
  }
  /** What switches a layer, or a head of all layers. */
  private line(name: string, members: HeadId[]): HTMLElement {
    return el("button", {
      type: "button",
      class: "lab-line",
      text: name,
      "aria-label": t("Switch {name} on or off", { name }),
      on: { click: () => this.toggle(members) },
    });
  }
  private cell([l, h]: Place, value: number, role: Role, limit: number): HTMLElement {
    const id = idOf(this.kind, l, h);
    const gate = this.off.get(id);
    const off = gate !== undefined;
    const place = clamp(0.5 + value / limit / 2, 0, 1);
    const colour = lookup("difference", false)[Math.round(256 * place)];
    const hold = () => {
      if (!off) return;
      this.held = [id];
      this.paintGate();
    };
    const words = { layer: l + 1, head: h + 1, role: roleWord(role), value: signed(value) };
    const state = el("em", { text: gate ? gate.toFixed(2) : t("off") });
    return el(
      "button",
      {
        type: "button",
        role: "switch",
        "aria-checked": String(!off),
        class: "lab-head" + (off ? " off" : ""),
        "data-head": id,
        title: roleWord(role),
        "aria-label": t("Head L{layer}H{head}, {role}: {value} nats without it", words),
        style: `background:${rgb(colour)};color:${inkOn(colour)}`,
        on: { click: () => this.toggle([id]), focus: hold },
      },
      el("span", { text: signed(value) }),
      ...(off ? [state] : []),
    );
  }
  private paintLegend({ kind, values }: Board, limit: number): void {
    const colours = lookup("difference", false);
    const off = [...this.off.keys()].filter((id) => id.startsWith(kind + ":")).length;
    const all = values.length * values[0].length;
    const bar = el("canvas", { width: 180, height: 6 });
    paintBar(bar, (at) => colours[Math.round(256 * at)]);
    this.find(".lab-legend").append(
      `${t("loses")} −${limit.toFixed(1)} `,
      bar,
      ` +${limit.toFixed(1)} ${t("gains")}`,
      el("span", { class: "push", text: t("{off} of {all} heads off", { off, all }) }),
    );
  }
  private paintGate(): void {
    const names = this.held.map((id) => {
      const [, layer, head] = id.split(":").map(Number);
      return `L${layer + 1}H${head + 1}`;
    });
    const few = names.length <= NAMED;
    const heads = few ? names.join(", ") : `${names.slice(0, 2).join(", ")} … (${names.length})`;
    const slider = this.find<HTMLInputElement>(".lab-gate input");
    this.find(".lab-gate span").textContent = heads
      ? t("Gate of {heads}", { heads })
      : t("Gate of a head: switch it off first");
    slider.disabled = !heads;
    slider.value = String(heads ? this.off.get(this.held[0]) : 1);
    this.find(".lab-gate output").textContent = slider.valueAsNumber.toFixed(2);
  }
  private paintPresets(board?: Board): void {
    const { kind, values = [[]], roles = [[]] } = board ?? { kind: this.kind };
    const all = values.flatMap((row, l) => row.map((_, h): Place => [l, h]));
    const layer = values.length;
    const set = (places: Place[]) => () => {
      this.off = new Map();
      this.switchOff(places.map(([l, h]) => idOf(kind, l, h)));
      this.paint();
    };
    const random = () => {
      const drawn = all.map((place) => ({ place, lot: Math.random() }));
      return drawn
        .sort((a, b) => a.lot - b.lot)
        .slice(0, 3)
        .map(({ place }) => place);
    };
    const presets: [text: string, click: () => void][] = [
      [t("All on"), set([])],
      [t("Aligning heads off"), set(all.filter(([l, h]) => roles[l][h] === "aligns"))],
      [t("Only layer {layer}", { layer }), set(all.filter(([l]) => l !== layer - 1))],
      [t("3 random heads off"), () => set(random())()],
    ];
    const button = ([text, click]: (typeof presets)[number]) =>
      el("button", { type: "button", class: "btn", disabled: !board, text, on: { click } });
    const cap = el("span", { class: "cap", text: t("Presets") });
    this.find(".lab-presets").replaceChildren(cap, ...presets.map(button));
  }
  private arrow(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    const id = (event.target as HTMLElement).dataset?.head;
    if (!step || !id) return;
    const [kind, layer, head] = id.split(":");
    const next = idOf(kind as Kind, Number(layer) + step[0], Number(head) + step[1]);
    const node = this.find<HTMLElement>(`[data-head="${next}"]`);
    if (!node) return;
    node.focus();
    event.preventDefault();
  }
}
