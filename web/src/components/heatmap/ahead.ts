/* Drawing ahead: what is not in sight yet is drawn when nothing has happened for a while. */

import { cancelIdle, whenIdle } from "../../dom/screen";

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
