/* The tabs of a live page. */

import { el } from "../../dom/element";

/**
 * Buttons for every panel of #tabs; arrows go from one to the next. `opened` is told the panel that
 * is shown.
 */
export const mountTabs = (opened: (panel: HTMLElement) => void): void => {
  const panels = [...document.querySelectorAll<HTMLElement>("#tabs > .tabitem")];
  const list = document.querySelector("#tabs .tab-container")!;
  const buttons = panels.map((panel) =>
    el("button", {
      type: "button",
      role: "tab",
      "data-tab-id": panel.id,
      "aria-controls": panel.id,
      text: panel.dataset.name ?? "",
      on: { click: () => choose(panel) },
    }),
  );
  const choose = (chosen: HTMLElement) => {
    document.body.dataset.tab = chosen.id.replace("-tab", "");
    panels.forEach((panel, at) => {
      panel.hidden = panel !== chosen;
      const button = buttons[at]!;
      button.classList.toggle("selected", panel === chosen);
      button.setAttribute("aria-selected", String(panel === chosen));
      button.tabIndex = panel === chosen ? 0 : -1;
    });
    opened(chosen);
    dispatchEvent(new Event("resize"));
  };
  list.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[(event as KeyboardEvent).key];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (!by || at < 0) return;
    const next = buttons.at((at + by) % buttons.length)!;
    next.focus();
    next.click();
  });
  list.append(...buttons);
  choose(panels[0]!);
};
