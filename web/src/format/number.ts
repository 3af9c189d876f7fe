/* Numbers as they are shown. */

export const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value));
/** A probability to two places. */
export const two = (value: number): string =>
  value > 0 && value < 0.005 ? "<.01" : value.toFixed(2);

/** A number with its sign; one that rounds to 0 has none. */
export const signed = (value: number, digits = 2): string => {
  if (Math.abs(value) < 0.5 * 10 ** -digits) return (0).toFixed(digits);
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
};
/** A number with a minus sign that is as long as a plus. */
export const minus = (value: number, digits = 2): string =>
  (value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);
