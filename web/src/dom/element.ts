/* Elements of HTML and SVG, made in one expression. */

type Listeners = {
  [name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[name]) => void;
};
type Value = string | number | boolean | null | undefined;

/**
 * `text` is the content, `on` the listeners; what is null, undefined or false is left out (but of
 * ARIA, where false is said).
 */
export type Attributes = { text?: string | number; on?: Listeners } & {
  [name: string]: Value | Listeners;
};

export const el = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const node = document.createElement(tag);
  const { text, on = {}, ...others } = attributes;
  if (text !== undefined) node.textContent = String(text);
  for (const [event, listener] of Object.entries(on))
    node.addEventListener(event, listener as EventListener);
  for (const [name, value] of Object.entries(others))
    if (value !== null && value !== undefined && (value !== false || name.startsWith("aria")))
      node.setAttribute(name, String(value));
  node.append(...children);
  return node;
};

export const svgEl = <Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number> = {},
  text?: string,
): SVGElementTagNameMap[Tag] => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text !== undefined) node.textContent = text;
  return node;
};

/**
 * Fill a select with `choices`, each a value and a text; made anew only where one of them changed.
 */
export const offer = (
  select: HTMLSelectElement,
  choices: readonly (readonly [value: string, text: string])[],
  value: string,
): void => {
  const now = [...select.options];
  const same = choices.every(([each, text], i) => now[i]?.value === each && now[i].text === text);
  if (!same || now.length !== choices.length)
    select.replaceChildren(...choices.map(([each, text]) => el("option", { value: each, text })));
  select.value = value;
};

/** A bold word that does nothing but stand there. */
const isBold = (node: Node | undefined): node is HTMLElement =>
  node instanceof HTMLElement &&
  node.tagName === "B" &&
  !node.attributes.length &&
  node.childNodes.length === 1 &&
  node.firstChild instanceof Text;

/** Make a text or a bold word read as `part` does; false: one of them is something else. */
const reread = (node: Node | undefined, part: Node | string): boolean => {
  if (isBold(node) && part instanceof Node)
    return isBold(part) && reread(node.firstChild!, part.textContent);
  if (!(node instanceof Text) || typeof part !== "string") return false;
  if (node.data !== part) node.data = part;
  return true;
};

/**
 * Say something else in an element. Texts and bold words stay: a browser works out the styles of
 * whatever is new.
 */
export const write = (node: Element, ...parts: (Node | string)[]): void => {
  const there = [...node.childNodes];
  if (there.length !== parts.length || !parts.every((part, i) => reread(there[i], part)))
    node.replaceChildren(...parts);
};

/** Say what a control does whose face does not: as its tip, and to who hears the page. */
export const label = (node: HTMLElement, text: string): void => {
  if (node.title !== text) node.title = text;
  if (node.getAttribute("aria-label") !== text) node.setAttribute("aria-label", text);
};

export const bold = (text: string): HTMLElement => el("b", { text });

/** A sign of 16 × 16, drawn by a path. */
export const icon = (path: string): SVGSVGElement => {
  const node = svgEl("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  node.append(svgEl("path", { d: path }));
  return node;
};

export const TICK = "M3 8.5l3.2 3.2L13 4.6";
