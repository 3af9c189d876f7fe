/* Rows of tabs: questions, and the views that answer one. */

/** Arrow keys walk a row of tabs. */
export const walk = (event: KeyboardEvent): void => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const row = event.currentTarget as HTMLElement;
  const tabs = [...row.children] as HTMLElement[];
  const at = tabs.indexOf(document.activeElement as HTMLElement);
  event.preventDefault();
  tabs[(at + step + tabs.length) % tabs.length].click();
  row.querySelector<HTMLElement>('[aria-selected="true"]')!.focus();
};

/**
 * Put other tabs into a row; the keyboard stays on the tab where it was. Those that are there stay:
 * an answer may come while one is being pressed.
 */
export const replaceTabs = (row: HTMLElement, name: string, tabs: HTMLElement[]): void => {
  row.setAttribute("aria-label", name);
  const there = [...row.children] as HTMLElement[];
  const same = (tab: HTMLElement, at: number) =>
    tab.textContent === there[at].textContent && tab.dataset.view === there[at].dataset.view;
  if (there.length === tabs.length && tabs.every(same)) {
    const states = ["aria-selected", "tabindex"];
    tabs.forEach((tab, at) =>
      states.forEach((state) => there[at].setAttribute(state, tab.getAttribute(state)!)),
    );
    return;
  }
  const at = there.indexOf(document.activeElement as HTMLElement);
  row.replaceChildren(...tabs);
  tabs[at]?.focus();
};
