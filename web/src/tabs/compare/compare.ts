/* The Compare tab: pairs of examples, and what the server answers. */

import { el } from "../../dom/element";
import { sentence } from "../../format/text";
import { t, tMessage } from "../../i18n/words";
import { messageOf } from "../../protocol/decode";
import type { TracePayload } from "../../protocol/messages";
import { askLab, labAnswers } from "../../state/ask";
import { type ComparisonLink, comparisonInLink } from "../../state/compare-link";
import { type PageFields, type Props, type Watch, pageData } from "../page";
import { Comparison } from "./comparison";

type Side = "a" | "b";
const SIDES: Side[] = ["a", "b"];
type Answer = { a: TracePayload; b: TracePayload } | { error: string; side?: Side };

interface Pair {
  a: string;
  b: string;
  name: string;
  at?: string;
}

/**
 * Examples of this page to compare, by their ids; `at` is the source word that both differ in,
 * though it is the same.
 */
const pairs = (): Pair[] => {
  const known = new Set(pageData().examples.map(({ id }) => id));
  const all: Pair[] = [
    { a: "de-en-in-den", b: "de-en-in-dem", name: t("in den Park / in dem Park") },
    { a: "en-zh-tired", b: "en-zh-wide", name: t("too tired / too wide"), at: "it" },
  ];
  return all.filter(({ a, b }) => known.has(a) && known.has(b));
};

/** The pair that is shown first: one of the page's direction, if there is one. */
const firstPair = (direction: string): Pair => {
  const ways = new Map(pageData().examples.map((each) => [each.id, each.direction]));
  const [first, ...others] = pairs();
  return [first, ...others].find(({ a }) => ways.get(a) === direction) ?? first;
};

const stored = async (id: string): Promise<TracePayload> => {
  const answer = await fetch(pageData().address + id + ".json");
  if (!answer.ok) throw new Error(id);
  return answer.json();
};

const TURNS = 40; // looks at the fields
const STAYS = 5; // looks in a row at which they were right
const BETWEEN = 50; // ms

/** What a field of Gradio's shall hold. */
interface Wish {
  holds: () => boolean;
  grant: () => void;
}

const checked = (selector: string): Wish => {
  const radio = () => document.querySelector<HTMLInputElement>(selector);
  return { holds: () => radio()?.checked ?? true, grant: () => radio()?.click() };
};

/**
 * Where a tab is being built, Gradio may put back what its fields began with: wishes are granted
 * until they stay.
 */
const keep = async (wishes: Wish[], wanted: () => boolean): Promise<void> => {
  for (let stays = 0, turns = 0; stays < STAYS && turns < TURNS && wanted(); turns++) {
    const open = wishes.filter((wish) => !wish.holds());
    for (const wish of open) wish.grant();
    stays = open.length ? 0 : stays + 1;
    await new Promise((done) => setTimeout(done, BETWEEN));
  }
};

/**
 * Which load was under way as a visitor chose a direction, or wrote into a side: what comes of it
 * then leaves that alone.
 */
const listenToHands = (loads: () => number) => {
  const at: { chosen: number; typed: Partial<Record<Side, number>> } = { chosen: -1, typed: {} };
  const hits = (event: Event, selector: string) =>
    event.isTrusted && (event.target as Element).closest(selector);
  document.addEventListener("click", (event) => {
    if (hits(event, "#compare-ask .segments")) at.chosen = loads();
  });
  document.addEventListener("input", (event) => {
    for (const side of SIDES) if (hits(event, `#compare-${side}`)) at.typed[side] = loads();
  });
  return at;
};

export const mountCompare = (
  element: Element,
  props: Props,
  watch: Watch,
  { field, setField, direction, setDirection, offers, settled }: PageFields,
): void => {
  const view = new Comparison(element);
  let loads = 0;
  const at = listenToHands(() => loads);

  /** Two sentences of one checkpoint can be asked further: what carries their difference? */
  let linked = comparisonInLink();
  let further: [TracePayload, TracePayload] | null = null;
  const show = (a: TracePayload, b: TracePayload, head?: string) => {
    const same = JSON.stringify(a.checkpoint) === JSON.stringify(b.checkpoint);
    further = same && a.source !== b.source ? [a, b] : null;
    view.find(".carries").hidden = !further || !labAnswers("patch");
    const asked = linked && a.source === linked.a.text && b.source === linked.b.text;
    view.show(a, b, asked ? linked!.view : null, head);
    if (asked) linked = null;
  };
  view.find(".carries").addEventListener("click", () => {
    const [{ source: text, checkpoint, direction: asked }, { source: other }] = further!;
    const way = asked ?? `${checkpoint.src}-${checkpoint.tgt}`;
    const known = offers(way) ? way : null;
    askLab({ view: "patch", options: { other }, text, target: null, direction: known });
  });

  const load = async (a: string, b: string, head?: string) => {
    const number = ++loads;
    view.busy(true);
    try {
      const pair = await Promise.all([stored(a), stored(b)]);
      if (number !== loads) return;
      const sides: [Side, TracePayload][] = [
        ["a", pair[0]],
        ["b", pair[1]],
      ];
      const free = sides.filter(([side]) => at.typed[side] !== number);
      for (const [side, { source }] of free) setField(field(`compare-${side}`), source);
      view.notice("");
      show(...pair, head);
      const ways = free.map(([side, { checkpoint }]) =>
        chosenWay(side, `${checkpoint.src}-${checkpoint.tgt}`),
      );
      await keep(ways, () => number === loads && number !== at.chosen);
    } catch {
      if (number === loads) view.notice(t("This example is not stored."));
    } finally {
      if (number === loads) view.busy(false);
    }
  };
  const offer = () =>
    view.find(".pairs").replaceChildren(
      ...pairs().map(({ a, b, name, at: head }) =>
        el("button", {
          type: "button",
          class: "btn",
          text: name,
          on: { click: () => void load(a, b, head) },
        }),
      ),
    );

  let last: string | object | null = null;
  const refuse = ({ error, side }: { error: string; side?: Side }) => {
    const where = side && (side === "a" ? t("Sentence A") : t("Sentence B"));
    const said = tMessage(error);
    view.notice(where ? `${where}: ${said}` : sentence(said));
  };
  const receive = async () => {
    if (!props.value || props.value === last) return;
    const value = (last = props.value);
    const unread = () => ({ error: t("The answer could not be read. Please try again.") });
    const message = await Promise.resolve(messageOf<Answer>(value)).catch(unread);
    if (value !== last) return;
    loads++; // what was asked for before must not come after
    view.busy(false);
    if ("error" in message && message.error) return refuse(message);
    view.notice("");
    const { a, b } = message as { a: TracePayload; b: TracePayload };
    show(a, b);
  };

  const chosenWay = (side: Side, way: string): Wish => {
    const id = `compare-direction-${side}`;
    return {
      holds: () => !offers(way, id) || direction(id) === way,
      grant: () => setDirection(way, id),
    };
  };
  const written = (id: string, text: string): Wish => ({
    holds: () => field(id)?.value === text,
    grant: () => setField(field(id), text),
  });

  /** Fill both sides as a link says, and have them translated. */
  const run = async (link: ComparisonLink) => {
    view.busy(true);
    await settled;
    const wishes = SIDES.flatMap((side) => [
      written(`compare-${side}`, link[side].text),
      chosenWay(side, link[side].direction),
      checked(`#compare-method-${side} input[value="${link[side].method}"]`),
    ]);
    await keep(wishes, () => true);
    view.busy(false);
    document.querySelector<HTMLElement>("#compare-run")?.click();
  };

  addEventListener("explorer-language", offer);
  offer();
  watch("value", () => void receive());
  const begin = ({ a, b, at: head }: Pair) => load(a, b, head);
  if (linked) void run(linked);
  else if (pairs().length) void settled.then(() => begin(firstPair(direction())));
  else view.notice(t("Nothing translated yet."));
};
