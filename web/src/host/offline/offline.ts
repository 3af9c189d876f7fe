/* The explorer in a page of its own, which needs no server. */

import { readPermalink } from "../../state/permalink";
import { mountChrome } from "../../tabs/chrome/chrome";
import { Explorer } from "../../tabs/explorer/explorer";

/** An offline page holds its own translation: no server, nothing but this document. */
export const mountOffline = (): Explorer => {
  const x = new Explorer(document.getElementById("explorer")!);
  mountChrome(document.getElementById("page-chrome")!);
  x.wanted = readPermalink(location.hash);
  x.show(window.__payload!);
  return x;
};
