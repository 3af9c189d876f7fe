/* What stands in a map's corner: all of it at once, and back from a zoom. */

import { el, write } from "../../dom/element";
import { t } from "../../i18n/words";

export interface ButtonsProps {
  unzoom: () => void;
  /** All of the map at once, or cells of a size to be read. */
  turn: () => void;
}

export interface ButtonsView {
  zoomed: boolean;
  /** All of the map is shown at once. */
  fit: boolean;
  /** A part of the map is out of sight. */
  cut: boolean;
}

export interface Buttons {
  nodes: HTMLElement[];
  paint(view: ButtonsView): void;
  /** Only whether there is a zoom to go back from. */
  zoomed(on: boolean): void;
}

const button = (name: string, click: () => void): HTMLButtonElement =>
  el("button", { type: "button", class: "btn " + name, hidden: true, on: { click } });

export const makeButtons = ({ unzoom, turn }: ButtonsProps): Buttons => {
  const reset = button("reset-zoom", unzoom);
  const whole = button("fit-map", turn);
  const zoomed = (on: boolean) => {
    reset.hidden = !on;
  };
  const paint: Buttons["paint"] = ({ zoomed: on, fit, cut }) => {
    zoomed(on);
    write(reset, t("Reset zoom"));
    whole.hidden = on || !(fit || cut);
    write(whole, t("Fit"));
    whole.title = t("Show the whole map at once");
    whole.setAttribute("aria-pressed", String(fit));
  };
  return { nodes: [whole, reset], paint, zoomed };
};
