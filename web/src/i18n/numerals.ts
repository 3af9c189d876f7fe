/* Thousands and percentages as the page's language writes them. */

import { pageLanguage } from "./language";

const SPACE = "\u202f"; // narrow, and no line ends there
const german = (): boolean => pageLanguage() === "de";

/**
 * Thousands stand apart in German: a comma there would be read as the decimal mark, a point here is
 * it.
 */
export const thousands = (text: string): string =>
  german() ? text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, SPACE) : text;

/** What the server says in percent: German has a space before the sign. */
export const percents = (text: string): string =>
  german() ? text.replace(/(?<=\d)%/g, SPACE + "%") : text;

/** A share as a whole number of hundredths. */
export const percent = (share: number): string => percents(Math.round(100 * share) + "%");
