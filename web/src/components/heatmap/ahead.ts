/* Drawing ahead: what is not in sight yet is drawn when nothing has happened for a while. */

import { cancelIdle, whenIdle } from "../../dom/screen";
import type { Room } from "../../state/context";
import { type Plots, type Who, measured } from "./plots";
import { START, rangeFrom, revealed } from "./range";

const REST = 250; // ms without a change

export interface Ahead {
  /** Begin to rest anew; with `false` nothing follows. */
  rest(on: boolean): void;
}

/** `draw` draws one thing; true: there may be more. */
export const makeAhead = (signal: AbortSignal, draw: () => boolean): Ahead => {
  let waiting = 0;
  let idle = 0;
  const later = () => {
    idle = whenIdle(() => {
      if (draw()) later();
    });
  };
  signal.addEventListener("abort", () => {
    clearTimeout(waiting);
    cancelIdle(idle);
  });
  return {
    rest: (on) => {
      clearTimeout(waiting);
      if (on) waiting = window.setTimeout(later, REST);
    },
  };
};

/** Draw the map of another kind out of sight, in `box`; true if it was not there already. */
export const drawHidden = (
  who: Who,
  plots: Plots,
  box: HTMLElement,
  room: Room,
  version: number,
): boolean => {
  const { picture, size, view } = measured(who, room);
  const { node } = plots.of(who.state.kind);
  const range = rangeFrom(picture, size, revealed(picture, size, START, who.rowIndex(picture)));
  node.classList.add("ahead");
  box.append(node);
  const drawn = plots.fill(who, picture, version, { ...view, range });
  node.remove();
  node.classList.remove("ahead");
  return drawn;
};
