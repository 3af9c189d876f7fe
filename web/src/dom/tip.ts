/* A short explanation that comes on hover, on focus and on a tap, and is read out after the
   name. */

/** Give a node its explanation; what could not be focused before can be now. */
export const explained = <E extends HTMLElement>(node: E, text: string): E => {
  node.dataset.tip = text;
  node.setAttribute("aria-description", text);
  if (!node.matches("button, a, input, select")) node.tabIndex = 0;
  return node;
};
