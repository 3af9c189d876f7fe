/* Values that come faster than a page can draw them. */

export interface Newest<V> {
  /** Take this value once the page has nothing else to do, unless a newer one came meanwhile. */
  soon(value: V): void;
  /** Forget the value that waits. */
  drop(): void;
}

/**
 * Gives `take` the newest of the values that arrived while the page was busy. Each step of a
 * translation tells the whole so far, and a slow page draws one in the time of all. `wait`: ms from
 * the first value on.
 */
export const makeNewest = <V extends object>(take: (value: V) => void, wait = 0): Newest<V> => {
  let newest: V | undefined;
  return {
    soon: (value) => {
      if (!newest)
        setTimeout(() => {
          const last = newest;
          newest = undefined;
          if (last) take(last);
        }, wait);
      newest = value;
    },
    drop: () => (newest = undefined),
  };
};
