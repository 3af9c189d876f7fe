/* What still listens or watches, for tests of what an explorer leaves behind. */

import { vi } from "vitest";

type Adds = typeof EventTarget.prototype.addEventListener;
interface Listening {
  target: EventTarget;
  type: string;
  listener: unknown;
  signal: AbortSignal | undefined;
}
const OBSERVERS = ["ResizeObserver", "MutationObserver", "IntersectionObserver"] as const;

/** Whether it can still be called: a node that was taken away and a signal that fell call none. */
const stands = ({ target, signal }: Listening): boolean =>
  !signal?.aborted &&
  !(target instanceof AbortSignal && target.aborted) &&
  (!(target instanceof Node) || target === document || target.isConnected);

/**
 * Note from now on who listens, to whatever it may be, and who watches. The answer names what
 * stands: the type of each event, the kind of each watcher.
 */
export const standing = (): (() => string[]) => {
  let heard: Listening[] = [];
  const watching = new Map<object, string>();
  for (const place of [EventTarget.prototype, globalThis as unknown as EventTarget, document]) {
    const { addEventListener: add, removeEventListener: remove } = place;
    const adds = function (this: EventTarget | undefined, ...rest: Parameters<Adds>) {
      const [type, listener, options] = rest;
      const target = this ?? (globalThis as unknown as EventTarget);
      const signal = typeof options === "object" ? options.signal : undefined;
      const same = (each: Listening) =>
        each.target === target && each.type === type && each.listener === listener;
      // one place calls another
      if (!heard.some(same)) heard.push({ target, type, listener, signal });
      add.apply(target, rest);
    };
    const removes = function (this: EventTarget | undefined, ...rest: Parameters<Adds>) {
      const [type, listener] = rest;
      heard = heard.filter((each) => each.type !== type || each.listener !== listener);
      remove.apply(this ?? globalThis, rest);
    };
    vi.spyOn(place, "addEventListener").mockImplementation(adds as Adds);
    vi.spyOn(place, "removeEventListener").mockImplementation(removes as Adds);
  }
  for (const name of OBSERVERS) {
    const { observe, disconnect } = globalThis[name].prototype as ResizeObserver;
    vi.spyOn(globalThis[name].prototype as ResizeObserver, "observe").mockImplementation(function (
      this: ResizeObserver,
      ...rest
    ) {
      watching.set(this, name);
      observe.apply(this, rest);
    });
    vi.spyOn(globalThis[name].prototype, "disconnect").mockImplementation(function (this: object) {
      watching.delete(this);
      disconnect.apply(this as ResizeObserver);
    });
  }
  return () => [...heard.filter(stands).map(({ type }) => type), ...watching.values()];
};
