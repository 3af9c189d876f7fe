/* What the browser remembers of a visitor's choices; storage may be off. */

export const remember = (key: string, value: string): void => {
  try {
    localStorage.setItem("explorer-" + key, value);
  } catch {
    /* storage is off */
  }
};

export const recall = (key: string): string | null => {
  try {
    return localStorage.getItem("explorer-" + key);
  } catch {
    return null;
  }
};
