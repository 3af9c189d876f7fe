/* What hands do on a map: pointer, wheel and keys, each as what it means. */

import type { ExplorerContext } from "../../state/context";
import type { Cell } from "../../state/view";
import { type KeysProps, pressed } from "./keys";
import { listenToPointer } from "./pointer";

type Needs = Pick<
  ExplorerContext,
  "signal" | "enter" | "state" | "trace" | "picture" | "rowIndex" | "chooseRow" | "pinCell"
>;

export interface HandsProps extends Pick<KeysProps, "go" | "magnify" | "escape"> {
  cellAt: (event: MouseEvent) => Cell | null;
  hover: (cell: Cell | null) => void;
  /** A button or a finger went down. */
  pressed: () => void;
  /** Show all of the map; false: it is shown already. */
  unzoom: () => boolean;
  /** Scroll by a wheel; whether the map does. */
  wheel: (event: WheelEvent) => boolean;
}

export const listenToHands = (box: HTMLElement, x: Needs, props: HandsProps): void => {
  listenToPointer(box, {
    signal: x.signal,
    cellAt: props.cellAt,
    hover: props.hover,
    enter: () => x.enter(),
    pressed: props.pressed,
    click: (cell, event, again) => {
      if (again && props.unzoom()) return;
      if (event.shiftKey) x.pinCell(cell);
      else x.chooseRow(cell.i, cell);
    },
  });
  const wheel = (event: WheelEvent) => props.wheel(event) && event.preventDefault();
  box.addEventListener("wheel", wheel, { passive: false });
  const keys: KeysProps = {
    at: () => x.state.hover || { i: x.rowIndex(x.picture()), j: 0 },
    picture: () => x.picture(),
    choose: (cell) => x.chooseRow(cell.i, cell),
    pin: (cell) => x.pinCell(cell),
    go: props.go,
    magnify: props.magnify,
    escape: props.escape,
  };
  box.addEventListener("keydown", (event) => {
    const other = !x.trace || (event.target as Element).closest("button");
    if (other || !pressed(event.key, keys)) return;
    event.preventDefault();
    event.stopPropagation();
  });
};
