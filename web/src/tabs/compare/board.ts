/* Where the heads of two translations differ most: a button for each head, with its distance. */

import { inkOn, ramp, rgb } from "../../design/colour";
import { stops } from "../../design/scales";
import { el } from "../../dom/element";

export interface BoardProps {
  layers: number;
  heads: number;
  layer: number;
  head: number;
  /** How far both maps of a head are apart, from 0 to 1. */
  distance: (layer: number, head: number) => number;
  choose: (layer: number, head: number) => void;
}

const cap = (text: string): HTMLElement => el("span", { class: "cap", text });

const cell = (props: BoardProps, l: number, h: number): HTMLElement => {
  const distance = props.distance(l, h);
  const colour = ramp(stops("house"), distance);
  const text = distance.toFixed(2);
  const node = el("button", {
    type: "button",
    "aria-pressed": l === props.layer && h === props.head,
    "aria-label": `L${l + 1} H${h + 1}: ${text}`,
    text,
    on: { click: () => props.choose(l, h) },
  });
  node.style.background = rgb(colour);
  node.style.color = inkOn(colour);
  return node;
};

export const paintBoard = (box: HTMLElement, props: BoardProps): void => {
  const { layers, heads } = props;
  box.style.gridTemplateColumns = `24px repeat(${heads}, minmax(0, 1fr))`;
  const names = Array.from({ length: heads }, (_, h) => cap("H" + (h + 1)));
  const lines = Array.from({ length: layers }, (_, l) => [
    cap("L" + (l + 1)),
    ...names.map((_, h) => cell(props, l, h)),
  ]);
  box.replaceChildren(el("span"), ...names, ...lines.flat());
};
