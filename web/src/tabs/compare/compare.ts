/* The Compare tab: pairs of examples, and what the server answers. */

import { el } from "../../dom/element";
import { t, tMessage } from "../../i18n/words";
import { messageOf } from "../../protocol/decode";
import type { TracePayload } from "../../protocol/messages";
import { askLab } from "../../state/ask";
import { type PageFields, type Props, type Watch, pageData } from "../page";
import { Comparison } from "./comparison";

type Side = "a" | "b";
type Answer = { a: TracePayload; b: TracePayload } | { error: string; side?: Side };

/** Examples to compare, by their ids. */
const pairs = (): [a: string, b: string, name: string][] => [
  ["de-en-in-den", "de-en-in-dem", t("in den Park / in dem Park")],
  ["en-zh-tired", "en-zh-wide", t("too tired / too wide")],
];

const stored = async (id: string): Promise<TracePayload> => {
  const answer = await fetch(pageData().address + id + ".json");
  if (!answer.ok) throw new Error(id);
  return answer.json();
};

const TURNS = 40; // looks at the radios
const STAYS = 5; // looks in a row at which they were right
const BETWEEN = 50; // ms

/** Where a tab is being built, Gradio may put back the direction that the radios began with: WebKit's order of events. */
const keepDirections = async (
  meant: [Side, TracePayload][],
  wanted: () => boolean,
): Promise<void> => {
  const wrong = ([side, { checkpoint }]: [Side, TracePayload]) => {
    const value = `${checkpoint.src}-${checkpoint.tgt}`;
    const radio = document.querySelector<HTMLInputElement>(
      `#compare-direction-${side} input[value="${value}"]`,
    );
    return radio && !radio.checked ? [radio] : [];
  };
  for (let stays = 0, turns = 0; stays < STAYS && turns < TURNS && wanted(); turns++) {
    const radios = meant.flatMap(wrong);
    for (const radio of radios) radio.click();
    stays = radios.length ? 0 : stays + 1;
    await new Promise((done) => setTimeout(done, BETWEEN));
  }
};

export const mountCompare = (
  element: Element,
  props: Props,
  watch: Watch,
  { field, setField }: PageFields,
): void => {
  const view = new Comparison(element);
  let loads = 0;
  let chosen = -1; // the load under way as a visitor chose a direction
  const typed: Partial<Record<Side, number>> = {}; // the load under way as a visitor wrote into a side: what comes of it after that leaves the side alone
  const hits = (event: Event, selector: string) =>
    event.isTrusted && (event.target as Element).closest(selector);
  document.addEventListener("click", (event) => {
    if (hits(event, "#compare-ask .segments")) chosen = loads;
  });
  document.addEventListener("input", (event) => {
    for (const side of ["a", "b"] as const)
      if (hits(event, `#compare-${side}`)) typed[side] = loads;
  });

  /** Two sentences of one checkpoint can be asked further: what carries their difference? */
  let further: [TracePayload, TracePayload] | null = null;
  const show = (a: TracePayload, b: TracePayload) => {
    const same = JSON.stringify(a.checkpoint) === JSON.stringify(b.checkpoint);
    further = same && a.source !== b.source ? [a, b] : null;
    view.find(".carries").hidden = !further;
    view.show(a, b);
  };
  view.find(".carries").addEventListener("click", () => {
    const [{ source: text, checkpoint }, { source: other }] = further!;
    const way = `${checkpoint.src}-${checkpoint.tgt}`;
    const there = document.querySelector(`#direction input[value="${CSS.escape(way)}"]`);
    const direction = there ? way : null;
    askLab({ view: "patch", options: { other }, text, target: null, direction });
  });

  const load = async (a: string, b: string) => {
    const number = ++loads;
    try {
      const pair = await Promise.all([stored(a), stored(b)]);
      if (number !== loads) return;
      const sides: [Side, TracePayload][] = [
        ["a", pair[0]],
        ["b", pair[1]],
      ];
      const free = sides.filter(([side]) => typed[side] !== number);
      for (const [side, { source }] of free) setField(field(`compare-${side}`), source);
      view.notice("");
      show(...pair);
      await keepDirections(free, () => number === loads && number !== chosen);
    } catch {
      if (number === loads) view.notice(t("This example has not been stored."));
    }
  };
  const offer = () =>
    view.find(".pairs").replaceChildren(
      ...pairs().map(([a, b, text]) =>
        el("button", {
          type: "button",
          class: "btn",
          text,
          on: { click: () => void load(a, b) },
        }),
      ),
    );

  let last: string | null = null;
  const refuse = ({ error, side }: { error: string; side?: Side }) => {
    const where = side && (side === "a" ? t("Sentence A") : t("Sentence B"));
    view.notice([where, tMessage(error)].filter(Boolean).join(": "));
  };
  const receive = async () => {
    if (!props.value || props.value === last) return;
    const value = (last = props.value);
    const unread = () => ({ error: t("The answer could not be read. Please try again.") });
    const message = await Promise.resolve(messageOf<Answer>(value)).catch(unread);
    if (value !== last) return;
    loads++; // what was asked for before must not come after
    if ("error" in message && message.error) return refuse(message);
    view.notice("");
    const { a, b } = message as { a: TracePayload; b: TracePayload };
    show(a, b);
  };

  addEventListener("explorer-language", offer);
  offer();
  watch("value", () => void receive());
  const [[a, b]] = pairs();
  void load(a, b);
};
