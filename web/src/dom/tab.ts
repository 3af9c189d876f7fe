/* The page's tabs, which Gradio draws; on a narrow page some stand in a menu. */

/** Open the tab with this id, or the one in the menu that has one of these names. */
export const openTab = (id: string, names: readonly string[]): void => {
  const menu = [...document.querySelectorAll<HTMLElement>("#tabs .overflow-dropdown button")].find(
    (button) => names.includes(button.textContent.trim()),
  );
  (document.querySelector<HTMLElement>(`#tabs button[data-tab-id="${id}"]`) ?? menu)?.click();
};
