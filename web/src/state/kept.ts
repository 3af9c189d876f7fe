/* What this entry of the browser's history showed last: who comes back, or loads the page again,
   finds it so. */

const KEY = "explorer";
const TYPED = "typed";

/** The fragment that says what the page is to show: what it showed last, or else its address's. */
export const fragment = (): string => {
  const kept: unknown = history.state?.[KEY];
  return typeof kept === "string" ? kept : location.hash;
};

/** What was typed since and not translated. */
export const typedSince = (): string => String(history.state?.[TYPED] ?? "");

/** Keep what is shown, as a link's fragment, and what is typed since; no server sees it. */
export const keepFragment = (shown: string, typed: string): void =>
  history.replaceState({ ...history.state, [KEY]: shown, [TYPED]: typed }, "");
