/* Examples: stored translations, no model needed. */

import { el } from "../../dom/element";
import { phone } from "../../dom/screen";
import { t, tText } from "../../i18n/words";
import type { TracePayload } from "../../protocol/messages";
import type { Explorer } from "../../tabs/explorer/explorer";
import { type Example, firstExample, pageData } from "../../tabs/page";
import { isBusy } from "./busy";
import { direction, field, setDirection, setField } from "./fields";
import { stored } from "./stored";

export interface Examples {
  /** Open one; `byItself`: nobody asked for it. */
  open(id: string, byItself?: boolean): Promise<void>;
  /** Offer those of the chosen direction. */
  offer(): void;
  /**
   * Another direction was chosen: its example is opened, unless the field holds a sentence of the
   * visitor's; false then.
   */
  follow(): boolean;
  /** Which one is meant, or the last that was. */
  meant(): string;
  /** What is on its way is not meant any more. */
  forget(): void;
}

export interface ExamplesProps {
  /** The fields hold what the page has put into them. */
  isSettled: () => boolean;
  busy: (on: boolean) => void;
  announce: (trace: TracePayload) => void;
}

const BETWEEN = 4; // pixels from pill to pill

/**
 * What follows the pills stands beside the last that is seen: their box is wider where the next one
 * wraps.
 */
const closeUp = (box: HTMLElement, next: HTMLElement): void => {
  const seen = [...box.children].filter((pill) => (pill as HTMLElement).style.visibility === "");
  const { right } = box.getBoundingClientRect();
  const last = seen.at(-1)?.getBoundingClientRect().right ?? box.getBoundingClientRect().left;
  const free = Math.max(0, right - last);
  next.style.transform = phone() ? "" : `translateX(${BETWEEN / 2 - free}px)`;
};

/** What has no room cannot have the focus either. */
const hideCut = (x: Explorer): IntersectionObserver => {
  const box = x.find(".examples");
  const next = x.find(".more-examples");
  new ResizeObserver(() => closeUp(box, next)).observe(box);
  return new IntersectionObserver(
    (pills) => {
      for (const { target, intersectionRatio } of pills)
        (target as HTMLElement).style.visibility = intersectionRatio > 0.95 ? "" : "hidden";
      closeUp(box, next);
    },
    { root: box, threshold: 0.95 },
  );
};

export const makeExamples = (x: Explorer, props: ExamplesProps): Examples => {
  const all = pageData().examples;
  const whole = hideCut(x);
  // all of them by their text: few have a name, and not every name finds room
  const others = x.find<HTMLSelectElement>(".more-examples");
  let opening = 0; // two may be on their way at once: the later one is meant
  let meant = "";

  /**
   * Put an example's sentence and direction into the fields; until the page has filled them itself,
   * only the sentence.
   */
  const ask = (example: Example) => {
    setField(field("source-text"), example.text);
    if (props.isSettled()) setDirection(example.direction);
  };
  const open = async (id: string, byItself = false) => {
    const example = all.find((each) => each.id === id);
    const number = ++opening;
    if (!example) return;
    if (isBusy()) document.querySelector<HTMLElement>("#stop")!.click();
    meant = id;
    ask(example);
    try {
      const payload = await stored(id);
      if (number !== opening) return;
      props.busy(false);
      if (!byItself) x.notice(""); // it may say that the address asked for what is not here
      x.show(payload);
      props.announce(payload);
      if (example.weakness) x.notice(tText(example.weakness));
    } catch {
      if (number !== opening || x.trace) return;
      x.empty(t("This example is not stored; press Translate to compute it."));
    }
  };
  const offer = () => {
    const mine = all.filter((each) => each.direction === direction());
    const pill = ({ id, name, text }: Example) =>
      el("button", {
        type: "button",
        class: "btn",
        title: text,
        text: tText(name!),
        on: { click: () => void open(id) },
      });
    const pills = mine.filter((each) => each.name).map(pill);
    x.find(".examples").replaceChildren(...pills);
    x.find(".try").classList.toggle("offers", pills.length > 0);
    whole.disconnect();
    for (const each of pills) whole.observe(each);
    others.replaceChildren(
      el("option", { value: "", text: t("More examples") }),
      ...mine.map(({ id, text }) => el("option", { value: id, text })),
    );
    others.hidden = others.options.length < 2;
  };
  const follow = () => {
    const way = direction();
    const typed = field("source-text")?.value ?? "";
    const shown = ({ id, direction: of, text }: Example) =>
      id === meant && of === way && text === typed;
    if (all.some(shown)) return true;
    const other = firstExample(way);
    const elsewhere = all.some(({ text, direction: of }) => text === typed.trim() && of !== way);
    if (!other || (typed.trim() && !elsewhere)) return false;
    void open(other.id);
    return true;
  };

  // a browser leaves what it sees a corner of
  const near: ScrollIntoViewOptions = { block: "nearest", inline: "nearest" };
  x.find(".try").addEventListener("focusin", (event) =>
    (event.target as Element).scrollIntoView(near),
  );
  others.addEventListener("change", () => {
    void open(others.value);
    others.value = "";
  });
  return {
    open,
    offer,
    follow,
    meant: () => meant,
    forget: () => void opening++,
  };
};
