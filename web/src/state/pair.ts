/* The pair that a page opens with, where nobody asked for one. */

/** By the browser's language: from German for a German, into Chinese for a Chinese; null: the page's own first. */
export const pairOf = (language: string, directions: readonly string[] = []): string | null => {
  const code = language.split("-")[0].toLowerCase();
  if (code === "en") return null; // English stands on both sides
  const from = directions.find((each) => each.startsWith(`${code}-`));
  return from ?? directions.find((each) => each.endsWith(`-${code}`)) ?? null;
};
