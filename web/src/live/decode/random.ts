/* Seeded random numbers of the page's own: PyTorch's generator cannot be had here, so that a seed
   gives another text. */

/**
 * Numbers from 0 to 1, the same for the same seed: xoshiro128** (Blackman and Vigna 2018), seeded
 * by splitmix.
 */
export function generator(seed: number): () => number {
  const state = new Uint32Array(4);
  let mixed = BigInt(seed);
  for (let at = 0; at < 4; at++) {
    mixed = (mixed + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
    let z = mixed;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
    state[at] = Number((z ^ (z >> 31n)) & 0xffffffffn);
  }
  return () => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const out = Math.imul(turn(Math.imul(b, 5), 7), 9) >>> 0;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ state[2]!;
    state[0] = a ^ state[3]!;
    state[2] = state[2]! ^ (b << 9);
    state[3] = turn(state[3]!, 11);
    return out / 2 ** 32;
  };
}

function turn(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
