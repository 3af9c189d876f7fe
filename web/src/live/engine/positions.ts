/* Sinusoidal positions: the table of Vaswani et al. 2017, section 3.5, as
   translator/model/positions.py makes it. */

/**
 * [length, d_model], float32, the first position numbered `first`.
 *
 * Pair i turns at the rate 10000^(-2i / d_model); with an odd width the last sine has no cosine.
 * "interleaved" puts sine and cosine of a pair side by side, "concatenated" all sines first.
 */
export function sinusoids(
  length: number,
  width: number,
  layout: "interleaved" | "concatenated",
  first = 0,
): Float32Array {
  const table = new Float32Array(length * width);
  const pairs = Math.ceil(width / 2);
  for (let i = 0; i < pairs; i++) {
    const rate = 10000 ** ((-2 * i) / width);
    const [sine, cosine] = layout === "interleaved" ? [2 * i, 2 * i + 1] : [i, pairs + i];
    for (let position = 0; position < length; position++) {
      const angle = (first + position) * rate;
      table[position * width + sine] = Math.sin(angle);
      if (2 * i + 1 < width) table[position * width + cosine] = Math.cos(angle);
    }
  }
  return table;
}
