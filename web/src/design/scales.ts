/* Colour scales: zero is the page in both themes, lightness is monotone. */

import tokens from "../../../translator/figures/tokens.json";
import { type Theme, dark } from "../dom/screen";

/** Stops of a scale: [place from 0 to 1, colour]. */
export type Scale = [place: number, colour: string][];
export type Palette = "house" | "viridis" | "cividis" | "difference";

const SCALES = tokens.scales as unknown as Record<Palette, Scale | Record<Theme, Scale>>;

/** The colours of both themes, which are style variables too. */
export const COLOURS = tokens.colours;

/**
 * A colour of the present theme. Unlike a look at the style variable it does not make the browser
 * work out styles.
 */
export const colour = (name: keyof typeof COLOURS.light, theme?: Theme): string =>
  COLOURS[theme ?? (dark() ? "dark" : "light")][name];

/** Heads that lie over each other, in the order in which they were chosen. */
export const HEAD_COLOURS: readonly string[] = tokens.heads;

/** The stops of a palette in a theme; some palettes are the same in both. */
export const stops = (
  palette: Palette = "house",
  theme: Theme = dark() ? "dark" : "light",
): Scale => {
  const scale = SCALES[palette];
  return Array.isArray(scale) ? scale : scale[theme];
};
