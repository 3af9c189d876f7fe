/* The pair that a page opens with, where nobody asked for one. */

/**
 * By the browser's language: from German for a German, into Chinese for a Chinese; null: the page's
 * own first. Never one of those `directions` that have to be fetched from a hub first.
 */
export const pairOf = (
  language: string,
  offered: readonly string[] = [],
  hub: readonly string[] = [],
): string | null => {
  const directions = offered.filter((each) => !hub.includes(each));
  const code = language.split("-")[0].toLowerCase();
  if (code === "en") return null; // English stands on both sides
  const from = directions.find((each) => each.startsWith(`${code}-`));
  return from ?? directions.find((each) => each.endsWith(`-${code}`)) ?? null;
};
