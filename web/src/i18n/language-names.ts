/* What a checkpoint's languages are called in the page's language, by the browser's own tables. */

import { LANGUAGES, pageLanguage, tagOf } from "./language";

const names = (language: string): Intl.DisplayNames =>
  new Intl.DisplayNames([language, "en"], {
    type: "language",
    fallback: "none",
    languageDisplay: "standard",
  });

const nameIn = (language: string, tag: string): string => {
  try {
    return (tag && names(language).of(tag)) || "";
  } catch {
    return ""; // no tag, or no table
  }
};

/** A language of a checkpoint. */
export interface NamedLanguage {
  code: string;
  /** In the page's language; the code itself where no browser knows it. */
  name: string;
  /**
   * Everything that it may be looked for by: also its own name, the English one and the code; lower
   * case, no accents.
   */
  keys: string;
}

/** `text` as it is compared with what was typed. */
export const plainWord = (text: string): string =>
  text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const stemOf = (code: string): string => tagOf(code).split("-")[0];

/**
 * The languages in the order of their names; a script or a country is named only where it tells two
 * of them apart.
 */
export const namedLanguages = (codes: readonly string[]): NamedLanguage[] => {
  const stems = codes.map(stemOf);
  const page = LANGUAGES[pageLanguage()];
  return codes
    .map((code, at) => {
      const alone = stems.filter((stem) => stem === stems[at]).length === 1;
      const tag = alone ? stems[at] : tagOf(code);
      const name = nameIn(page, tag) || code;
      const keys = [name, nameIn("en", tag), tag && nameIn(tag, tag), code];
      return { code, name, keys: plainWord(keys.join("\n")) };
    })
    .sort((a, b) => a.name.localeCompare(b.name, page));
};

/** What one language is called by itself. */
export const languageName = (code: string): string =>
  nameIn(LANGUAGES[pageLanguage()], stemOf(code)) || code;
