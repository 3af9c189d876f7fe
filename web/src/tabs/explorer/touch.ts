/* Which explorer an event is meant for, where several stand on one page. */

/** Who hears. */
interface Ear {
  readonly root: HTMLElement;
  readonly signal: AbortSignal;
  /** Its own theme and language hold from here on. */
  enter(): void;
}

/** Whatever a part may listen to. */
const HEARD = [
  ..."click change input toggle keydown focusin focusout mouseover mousemove mouseleave".split(" "),
  ..."pointerdown pointerup wheel scroll".split(" "),
];
/** Every explorer that is there; keys on the page go to the one that was touched last. */
const living = new Set<Ear>();
let touched: Ear | null = null;

/** Before anything in it hears an event, it enters its scene. */
export const hear = (x: Ear): void => {
  for (const type of HEARD)
    x.root.addEventListener(type, () => x.enter(), { capture: true, passive: true });
  const touch = () => {
    touched = x;
  };
  for (const type of ["pointerdown", "focusin"])
    x.root.addEventListener(type, touch, { capture: true });
  living.add(x);
  x.signal.addEventListener("abort", () => {
    living.delete(x);
    if (touched === x) touched = null;
  });
};

/** Hear keys anywhere on the page, while it is seen and nobody else is meant. */
export const hearKeys = (x: Ear, listener: (event: KeyboardEvent) => void): void => {
  const heard = (event: KeyboardEvent) => {
    const mine = touched === x || living.size === 1;
    if (!mine || !x.root.offsetParent || event.defaultPrevented) return;
    x.enter();
    listener(event);
  };
  document.addEventListener("keydown", heard, { signal: x.signal });
};
