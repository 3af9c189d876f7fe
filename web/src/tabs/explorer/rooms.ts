/* How much of the screen is left for pictures. */

import type { Room } from "../../state/context";

const LEAST = 260; // pixels of a picture's height
const BELOW = 108; // pixels of what stands under it

/** The height that is left for a picture, so that the whole chain fits one screen. */
export const roomOf = (node: Element): number =>
  Math.max(LEAST, innerHeight - node.getBoundingClientRect().top - scrollY - BELOW);

/** Of the mosaic, whose canvas is as wide as it is shown, and of the large map. */
export const roomsOf = (mosaic: Element, detail: Element): { mosaic: Room; detail: Room } => ({
  mosaic: { width: mosaic.querySelector("canvas")!.clientWidth, room: roomOf(mosaic) },
  detail: { width: detail.clientWidth, room: roomOf(detail) },
});
