/* Weights as messages carry them: ui/payload.py's `pack`. */

import { FULL } from "../../protocol/decode";
import type { Packing } from "../../protocol/messages";

/**
 * Probabilities as base64: "f32" exactly, "u16" as round(w · 65535); first bytes before second ones
 * and so on.
 */
export function pack(weights: ArrayLike<number>, encoding: Packing): string {
  const count = weights.length;
  if (encoding === "f32") {
    const floats = new Uint8Array(Float32Array.from(weights).buffer);
    const bytes = new Uint8Array(4 * count);
    for (let i = 0; i < count; i++)
      for (let k = 0; k < 4; k++) bytes[k * count + i] = floats[4 * i + k]!;
    return base64(bytes);
  }
  const bytes = new Uint8Array(2 * count);
  for (let i = 0; i < count; i++) {
    const fixed = Math.round(Math.min(Math.max(weights[i]!, 0), 1) * FULL[encoding]);
    bytes[i] = fixed >> 8;
    bytes[count + i] = fixed & 255;
  }
  return base64(bytes);
}

/** Decoder maps [.., T, T] without their future: [.., T·(T+1)/2]. */
export function lowerTriangles(maps: Float32Array, size: number): Float32Array {
  const heads = maps.length / (size * size);
  const out = new Float32Array((heads * size * (size + 1)) / 2);
  let to = 0;
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < size; row++) {
      const from = (head * size + row) * size;
      out.set(maps.subarray(from, from + row + 1), to);
      to += row + 1;
    }
  return out;
}

const CHUNK = 0x8000; // as many arguments as any browser takes

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
