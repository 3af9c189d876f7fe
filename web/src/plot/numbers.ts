/* How a weight is written into its cell. */

const SMALLEST = 9; // pixels
const LEAST = 0.005; // a weight that is not written: it would read 0

/** Two decimals without the zero before them, as on a chip; "" for next to nothing. */
export const numberText = (weight: number): string => {
  if (weight < LEAST) return "";
  const text = weight.toFixed(2);
  return text.startsWith("0") ? text.slice(1) : text.slice(0, 1);
};

/**
 * The size of letters in a cell, `most` at most; 0: the cell is too small for any that could be
 * read.
 */
export const numberSize = (cellWidth: number, cellHeight: number, most: number): number => {
  const size = Math.min(0.42 * cellWidth, 0.66 * cellHeight, most);
  return size < SMALLEST ? 0 : size;
};
