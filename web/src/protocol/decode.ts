/* Messages and weights as they travel, unpacked. */

import type { Encoding } from "./messages";

interface Native {
  fromBase64?: (base64: string) => Uint8Array<ArrayBuffer>;
}

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
  const { fromBase64 } = Uint8Array as Native; // newer browsers: a hundredth of the time
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

const inflated = async (base64: string): Promise<unknown> => {
  const stream = new Blob([bytesOf(base64)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).json();
};

/**
 * A message as the server sent it: JSON, at once, or a promise where it is long and came deflated,
 * in base64 (rejected if it cannot be read). A page without a server sends itself objects.
 */
export const messageOf = <M>(value: string | object): M | Promise<M> => {
  if (typeof value !== "string") return value as M;
  return value.startsWith("{") ? (JSON.parse(value) as M) : (inflated(value) as Promise<M>);
};

/** What stands for 1. */
export const FULL = { u16: 65535, d4: 10_000 };

/**
 * A first byte of "d4" from here on has the upper bits of a number, whose lower eight stand behind
 * all first bytes.
 */
const ESCAPE = 192;

const decimals = (bytes: Uint8Array): Float32Array => {
  let count = 0;
  for (let used = 0; used < bytes.length; count++) used += bytes[count] < ESCAPE ? 1 : 2;
  const floats = new Float32Array(count);
  for (let i = 0, low = count; i < count; i++) {
    const first = bytes[i];
    floats[i] = (first < ESCAPE ? first : (first - ESCAPE) * 256 + bytes[low++]) / FULL.d4;
  }
  return floats;
};

/**
 * Weights arrive as 16-bit fixed point (the page), as four decimals (notebooks), or as 32-bit
 * floats (exports, offline page): bytes, or these in base64. The page's own worker sends numbers.
 */
export const floatsOf = (
  sent: string | Uint8Array | Float32Array,
  encoding: Encoding,
): Float32Array => {
  if (sent instanceof Float32Array) return sent;
  const bytes = typeof sent === "string" ? bytesOf(sent) : sent;
  if (encoding === "d4") return decimals(bytes);
  if (encoding === "f32") {
    const count = bytes.length / 4;
    const whole = new Uint8Array(bytes.length);
    for (let i = 0; i < count; i++)
      for (let k = 0; k < 4; k++) whole[4 * i + k] = bytes[k * count + i];
    return new Float32Array(whole.buffer);
  }
  const half = bytes.length / 2;
  const floats = new Float32Array(half);
  for (let i = 0; i < half; i++) floats[i] = (bytes[i] * 256 + bytes[half + i]) / FULL[encoding];
  return floats;
};

/** The decoder travels as its lower triangle; the future is known to be 0. */
export const fromTriangles = (packed: Float32Array, heads: number, size: number): Float32Array => {
  const full = new Float32Array(heads * size * size);
  let at = 0;
  for (let head = 0; head < heads; head++)
    for (let i = 0; i < size; i++)
      for (let j = 0; j <= i; j++) full[(head * size + i) * size + j] = packed[at++];
  return full;
};
