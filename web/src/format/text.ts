/* Text that fits, and text that is safe where it goes. */

export const cut = (text: string, length = 12): string => {
  const letters = [...text];
  return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : text;
};

/** What stands alone begins with a capital, unless with a name ("en-zh", "max_length"). */
export const sentence = (text: string): string =>
  text.replace(/^\p{Ll}(?=\p{L}*(?:[\s,;:.]|$))/u, (letter) => letter.toUpperCase());

export const escapeHtml = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** A cell that a spreadsheet opens as text: quoted, and never as a formula. */
export const csvCell = (text: string): string => {
  const safe = /^[=+\-@|%\t\r\n＝＋－＠]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};
