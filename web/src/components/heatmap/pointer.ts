/* What a pointer does on a map: pointing, a click, a second one. */

import { DOUBLE_CLICK } from "../../dom/screen";
import type { Cell } from "../../state/view";

export interface PointerProps {
  signal: AbortSignal;
  cellAt: (event: MouseEvent) => Cell | null;
  hover: (cell: Cell | null) => void;
  /** Called before anything that happens outside of the map is heard. */
  enter: () => void;
  /** A button or a finger went down. */
  pressed: () => void;
  click: (cell: Cell, event: PointerEvent, again: boolean) => void;
}

const STILL = 5; // pixels within which a press is no drag

export const listenToPointer = (box: HTMLElement, props: PointerProps): void => {
  const { signal, cellAt } = props;
  let down: { x: number; y: number } | null = null;
  let clicked = -Infinity;
  box.addEventListener("mousemove", (event) => props.hover(cellAt(event)));
  box.addEventListener("mouseleave", () => props.hover(null));
  const press = (event: PointerEvent) => {
    props.pressed();
    const other = event.button || (event.target as Element).closest("button");
    down = other ? null : { x: event.clientX, y: event.clientY };
  };
  box.addEventListener("pointerdown", press, true);
  // Anywhere: while a mouse button is held, Plotly lays a cover of its own over the page.
  const release = (event: PointerEvent) => {
    if (down) props.enter();
    const far = down && Math.abs(event.clientX - down.x) + Math.abs(event.clientY - down.y);
    down = null;
    const cell = far !== null && far < STILL ? cellAt(event) : null;
    if (!cell) return;
    // the second press falls on the cover too: no dblclick comes
    const again = event.timeStamp - clicked < DOUBLE_CLICK;
    clicked = again ? -Infinity : event.timeStamp;
    props.click(cell, event, again);
  };
  addEventListener("pointerup", release, { capture: true, signal });
};
