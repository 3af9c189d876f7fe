/* The page's language, and the languages of a translation. */

import { fetchOnce } from "../dom/early";
import { type Tables, playing } from "../dom/scene";
import { recall } from "../dom/storage";

export type Language = "en" | "zh" | "de";

/** Languages by their code here, as HTML names them. */
export const LANGUAGES: Record<string, string> = { en: "en", zh: "zh-Hans", de: "de" };

/**
 * A checkpoint's own code, such as "deu_Latn", "de_DE" or "zh", as HTML names the language; "": it
 * is no such code.
 */
export const tagOf = (code: string): string => {
  if (Object.hasOwn(LANGUAGES, code)) return LANGUAGES[code];
  try {
    return Intl.getCanonicalLocales(code.replace(/_XX$/, "").replaceAll("_", "-"))[0] ?? "";
  } catch {
    return "";
  }
};

/**
 * Source and target language of a direction, or of a checkpoint whose name ends in them, such as
 * opus-mt-de-en.
 */
export const languagesOf = (direction: string): string[] =>
  (/:(\w+)-(\w+)$/.exec(direction) ?? /(?:^|-)([a-z]{2,3})-([a-z]{2,3})$/.exec(direction) ?? [])
    .slice(1)
    .map(tagOf);

export const tables = (): Tables => playing().tables ?? window.__explorerLocales ?? {};

/**
 * Fetch a language's words, where the page has them as a file of their own; without them it stays
 * English.
 */
export const fetchWords = async (language: string): Promise<void> => {
  const address = window.__explorerData?.words?.[language];
  if (!address || tables()[language]) return;
  try {
    const answer = await fetchOnce(address);
    if (!answer.ok) return;
    const words = (await answer.json()) as Tables[string];
    window.__explorerLocales = { ...window.__explorerLocales, [language]: words };
  } catch {
    // no network: the next choice asks again
  }
};

export const pageLanguage = (): Language => {
  const stored =
    playing().language || recall("language") || (navigator.language || "en").slice(0, 2);
  return stored in LANGUAGES ? (stored as Language) : "en";
};
