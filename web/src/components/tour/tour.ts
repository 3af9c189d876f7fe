/* A first tour on the sentence that is there: offered once, skipped at will, and begun again by its
   button. */

import { el } from "../../dom/element";
import { recall, remember } from "../../dom/storage";
import { openTab } from "../../dom/tab";
import { tables } from "../../i18n/language";
import { type Sentence, t } from "../../i18n/words";
import type { ExplorerContext, Part } from "../../state/context";
import { inRoleRow } from "../../trace/role-row";
import { type Stop, tourOf } from "../../trace/tour";

type Needs = Pick<
  ExplorerContext,
  "root" | "find" | "trace" | "state" | "set" | "signal" | "enter"
>;

/** Under which the browser remembers that the tour was offered. */
const KEY = "tour";
const MARK = "toured";
const TABS: Record<string, [label: Sentence, name: Sentence]> = {
  lab: ["Open the lab", "Lab"],
  lesson: ["Open the lesson", "Lesson"],
};

export const makeTour = (x: Needs): Part => {
  const card = x.find<HTMLElement>(".tour");
  const invite = x.find(".tour-invite");
  const begins = x.root.querySelectorAll<HTMLElement>("[data-tour]");
  let stops: Stop[] = [];
  let now = -1;
  let before: HTMLElement | null = null;

  const unmark = () => x.root.querySelector(`.${MARK}`)?.classList.remove(MARK);
  const end = () => {
    unmark();
    card.hidden = true;
    now = -1;
    before?.focus();
  };
  const go = (to: number) => {
    if (to >= stops.length) return end();
    now = Math.max(0, to);
    const { at, head } = stops[now];
    if (head) {
      const { kind, place, role } = head;
      const [layer, number] = place;
      x.set({ kind, layer, head: number, view: "heatmap", overlay: [], hover: null }, () =>
        x.set(inRoleRow(x.trace, kind, place, role, x.state)),
      );
    }
    unmark();
    const target = x.find<HTMLElement>(at);
    target.classList.add(MARK);
    target.scrollIntoView({ block: "nearest" });
    draw();
    card.focus();
  };
  const button = (text: string, click: () => void, name = "btn") =>
    el("button", { type: "button", class: name, text, on: { click } });
  const leads = (tab: string) => {
    const [label, name] = TABS[tab];
    return button(t(label), () => {
      end();
      openTab(`${tab}-tab`, [name, ...Object.values(tables()).map((table) => table[name])]);
    });
  };
  const draw = () => {
    const { title, text, values, tab } = stops[now];
    const last = now === stops.length - 1;
    card.setAttribute("aria-label", t("Tour"));
    card.replaceChildren(
      el("p", { class: "cap", text: `${now + 1} / ${stops.length}` }),
      el("h3", { text: t(title) }),
      el("p", { text: t(text, values), "aria-live": "polite" }),
      el(
        "div",
        { class: "ends" },
        ...(last ? [] : [button(t("Skip the tour"), end, "btn quiet")]),
        ...(tab && document.querySelector("#tabs") ? [leads(tab)] : []),
        ...(now ? [button(t("Back"), () => go(now - 1))] : []),
        button(last ? t("Done") : t("Next stop"), () => go(now + 1), "btn primary"),
      ),
    );
  };
  const begin = (event: Event) => {
    if (!x.trace || x.trace.live) return;
    x.enter();
    remember(KEY, "seen");
    invite.hidden = true;
    before = event.currentTarget as HTMLElement;
    if (before.offsetParent === null) before = x.find<HTMLElement>(".export [data-tour]");
    stops = tourOf(x.trace);
    card.hidden = false;
    go(0);
  };
  begins.forEach((node) => node.addEventListener("click", begin));
  x.find(".tour-no").addEventListener("click", () => {
    remember(KEY, "seen");
    invite.hidden = true;
  });
  card.addEventListener("keydown", (event) => {
    const onward = event.target === card ? 1 : 0; // its buttons have an Enter of their own
    const move = { ArrowLeft: -1, ArrowRight: 1, Enter: onward }[event.key];
    if (event.key === "Escape") end();
    else if (move) go(now + move);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  invite.hidden = recall(KEY) !== null || location.hash !== "" || !document.querySelector("#tabs");
  const paint = () => {
    if (now < 0) return;
    if (x.trace.live) return end();
    stops = tourOf(x.trace);
    draw();
  };
  return { needs: ["trace", "language"], paint };
};
