/* How much room a text takes. */

import { sans } from "./screen";

let canvas: HTMLCanvasElement | null = null;
/** How wide a text is when it is drawn, in pixels. */
export const textWidth = (text: string, size: number, weight = 400): number => {
  canvas ??= document.createElement("canvas");
  const pen = canvas.getContext("2d")!; // the same one at every call
  pen.font = `${weight} ${size}px ${sans()}`;
  return pen.measureText(text).width;
};
