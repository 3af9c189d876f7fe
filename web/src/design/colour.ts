/* Colours out of a scale, and inks that can be read on them. */

import type { Theme } from "../dom/screen";
import { clamp } from "../format/number";
import { type Palette, type Scale, stops } from "./scales";

/** Red, green, blue, each from 0 to 255. */
export type Colour = [red: number, green: number, blue: number];

export const toRgb = (hex: string): Colour =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as Colour;

/** The colour at a place of a scale, 0 to 1. */
export const ramp = (points: Scale, x: number): Colour => {
  const at = clamp(x, 0, 1);
  let i = 1;
  while (i < points.length - 1 && at > points[i][0]) i++;
  const [a, from] = points[i - 1];
  const [b, to] = points[i];
  const share = (at - a) / (b - a);
  const start = toRgb(from);
  return toRgb(to).map((value, k) => Math.round(start[k] + (value - start[k]) * share)) as Colour;
};

export const rgb = (colour: Colour): string => `rgb(${colour.join(",")})`;

/**
 * 257 colours of one scale, looked up by weight; the square root is taken here, never in the
 * numbers.
 */
export const lookup = (palette?: Palette, root = false, theme?: Theme): Colour[] => {
  const points = stops(palette, theme);
  return Array.from({ length: 257 }, (_, i) => ramp(points, root ? Math.sqrt(i / 256) : i / 256));
};

/** Relative luminance as WCAG 2.2 defines it, 0 to 1. */
export const luminance = (colour: Colour): number => {
  const [r, g, b] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** Black or white: of all pairs of inks the one that reaches 4.5 to 1 on any colour. */
export const inkOn = (colour: Colour): string => (luminance(colour) > 0.18 ? "#000000" : "#ffffff");

/** Fill a canvas with a scale, from left to right. */
export const paintBar = (canvas: HTMLCanvasElement, colour: (at: number) => Colour): void => {
  const context = canvas.getContext("2d")!;
  for (let i = 0; i < canvas.width; i++) {
    context.fillStyle = rgb(colour(i / (canvas.width - 1)));
    context.fillRect(i, 0, 1, canvas.height);
  }
};
