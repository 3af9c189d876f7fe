/* Markup of our own, put where a component is mounted. */

let copies = 0;

/** Ids that stand in the document already get another name, and what refers to them with it. */
const renamed = (root: Element): void => {
  const own = [...root.querySelectorAll("[id]")];
  const taken = own.filter(({ id }) => document.getElementById(id));
  if (!taken.length) return;
  const ending = `-${++copies}`;
  for (const node of taken) {
    const { id } = node;
    node.id = id + ending;
    for (const name of ["for", "aria-controls", "aria-labelledby", "aria-describedby"])
      for (const other of root.querySelectorAll(`[${name}="${id}"]`))
        other.setAttribute(name, node.id);
  }
};

/**
 * Replace what `element` holds by `markup`, which is one element, and give that back. What has an
 * id in it has it as `data-part` too, by which it is found however often the markup stands on a
 * page.
 */
export const plant = (element: Element, markup: string): HTMLElement => {
  const holder = document.createElement("template");
  holder.innerHTML = markup;
  const root = holder.content.firstElementChild as HTMLElement;
  for (const node of root.querySelectorAll<HTMLElement>("[id]")) node.dataset.part = node.id;
  element.replaceChildren();
  renamed(root);
  element.append(root);
  return root;
};

/** What stands in planted markup: "#name" is the part that has this id in the markup. */
export const partOf = <E extends Element = HTMLElement>(root: Element, selector: string): E =>
  root.querySelector<E>(selector.replace(/#([\w-]+)/g, '[data-part="$1"]'))!;
