/* Files of tests share one document, which takes a second to make: each begins with what a new page
   has. */

import { beforeAll, vi } from "vitest";
import { PAGE, enter } from "../dom/scene";

beforeAll(() => {
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
