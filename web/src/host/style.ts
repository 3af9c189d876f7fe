/* One style sheet in the page's head for as long as any explorer needs it. */

let users = 0;
let node: HTMLStyleElement | null = null;

/** Have the style sheet there; the answer gives it up. */
export const useStyle = (text: string): (() => void) => {
  users++;
  if (!node) {
    node = document.createElement("style");
    node.textContent = text;
    document.head.append(node);
  }
  let given = false;
  return () => {
    if (given || --users) return void (given = true);
    given = true;
    node?.remove();
    node = null;
  };
};
