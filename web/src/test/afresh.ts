/* Files of tests share one document, which takes a second to make: each begins with what a new page
   has. */

import { afterAll, beforeAll, vi } from "vitest";
import { PAGE, enter } from "../dom/scene";

type Listening = Parameters<EventTarget["addEventListener"]>;
/** What a file adds to the page and to the document, which outlive it. */
const kept = [globalThis as unknown as EventTarget, document].map((target) => {
  const add = target.addEventListener;
  const heard: Listening[] = [];
  const hear = (...listening: Listening) => {
    heard.push(listening);
    add.apply(target, listening);
  };
  const begin = () => void (target.addEventListener = hear);
  const end = () => {
    target.addEventListener = add;
    for (const [type, listener, options] of heard.splice(0))
      target.removeEventListener(type, listener, options);
  };
  return { begin, end };
});
afterAll(() => kept.forEach(({ end }) => end()));

/** What a file watches of the document goes with it too. */
const Watcher = globalThis.MutationObserver;
const watching: MutationObserver[] = [];
class Watching extends Watcher {
  constructor(run: MutationCallback) {
    super(run);
    watching.push(this);
  }
}
beforeAll(() => void (globalThis.MutationObserver = Watching));
afterAll(() => {
  globalThis.MutationObserver = Watcher;
  for (const each of watching.splice(0)) each.disconnect();
});

/** Nor is what it still has to paint or to do later done to the next file's page. */
type Asks = (...rest: unknown[]) => number;
const later = (
  [
    ["requestAnimationFrame", "cancelAnimationFrame"],
    ["setTimeout", "clearTimeout"],
    ["setInterval", "clearInterval"],
  ] as const
).map(([start, stop]) => {
  const page = globalThis as unknown as Record<string, Asks>;
  const [ask, cancel] = [page[start]!.bind(globalThis), page[stop]!.bind(globalThis)];
  const asked: number[] = [];
  const asks: Asks = (...rest) => {
    const number = ask(...rest);
    asked.push(number);
    return number;
  };
  const begin = () => void (page[start] = asks);
  const end = () => {
    page[start] = ask;
    for (const number of asked.splice(0)) cancel(number);
  };
  return { begin, end };
});
beforeAll(() => later.forEach(({ begin }) => begin()));
afterAll(() => {
  vi.useRealTimers();
  later.forEach(({ end }) => end());
});

beforeAll(() => {
  kept.forEach(({ begin }) => begin());
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  enter(PAGE);
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
  for (const name of ["__explorerData", "__explorerLocales", "Plotly"] as const)
    delete window[name];
  // what a test has put over the browser's own
  delete (navigator as { language?: string }).language;
  for (const node of [document.documentElement, document.body])
    for (const { name } of [...node.attributes]) node.removeAttribute(name);
  document.head.replaceChildren();
  document.body.replaceChildren();
});
