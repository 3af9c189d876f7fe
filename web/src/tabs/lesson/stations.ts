/* The list of the stations: where one is, which are done, and what leads to the neighbours. */

import { TICK, el, icon, write } from "../../dom/element";
import type { Station } from "../../protocol/lesson";
import type { Say } from "./words";

export interface StationsProps {
  stations: readonly Station[];
  /** The name of the present one. */
  now: string;
  done: ReadonlySet<string>;
  say: Say;
  open: (name: string) => void;
}

const stationLink = (props: StationsProps, { name, title }: Station, i: number): HTMLElement => {
  const click = (event: Event) => {
    event.preventDefault();
    props.open(name);
  };
  const current = name === props.now ? "step" : null;
  const tick = () => {
    const node = icon(TICK);
    node.removeAttribute("aria-hidden"); // it is not only for the eye
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", props.say("done"));
    return node;
  };
  return el(
    "a",
    { href: "#lesson=" + name, "aria-current": current, title, on: { click } },
    el("i", { text: i + 1 }),
    el("span", { text: title }),
    ...(props.done.has(name) ? [tick()] : []),
  );
};

/** `nav` holds an empty list; the present station comes into the middle of it. */
export const paintStations = (nav: HTMLElement, props: StationsProps): void => {
  nav.setAttribute("aria-label", props.say("Stations"));
  const list = nav.querySelector<HTMLElement>("ol")!;
  const links = props.stations.map((each, i) => el("li", {}, stationLink(props, each, i)));
  list.replaceChildren(...links);
  const current = nav.querySelector<HTMLElement>("[aria-current=step]")!;
  const middle = list.clientWidth / 2 - current.clientWidth / 2;
  list.scrollLeft = current.offsetLeft - list.offsetLeft - middle;
};

interface WaysProps {
  stations: readonly Station[];
  /** Where the present one stands among them. */
  place: number;
  say: Say;
}

/** What leads to the neighbours. */
export const paintWays = (
  find: (part: string) => HTMLElement,
  { stations, place, say }: WaysProps,
): void => {
  const before = stations[place - 1];
  const after = stations[place + 1];
  const back = find(".back");
  const next = find(".next");
  back.hidden = !before;
  next.hidden = !after;
  write(back, before ? say("Back: {title}", { title: before.title }) : "");
  write(next, after ? say("Next: {title}", { title: after.title }) : "");
  write(find(".link"), say("Copy link"));
};
