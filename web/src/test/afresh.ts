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
