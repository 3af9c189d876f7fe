/* The settings, folded away: the sheet and its button, and whether what is shown was made with
   them. */

import { el, icon, write } from "../../dom/element";
import { t } from "../../i18n/words";
import { settingsText } from "../../trace/settings";
import type { Explorer } from "../../tabs/explorer/explorer";
import { settingsAsked } from "./fields";

export interface SettingsProps {
  /** What stands in the sheet besides Gradio's fields. */
  rows: HTMLElement[];
  /** How the settings stood as what is shown was asked for; null: the page has not opened yet. */
  shownWith: () => string | null;
  /** A setting was touched. */
  touched: () => void;
}

/** Gives what says how the settings stand. */
export const makeSettingsSheet = (x: Explorer, props: SettingsProps): (() => void) => {
  const when = el("p", { class: "cap settings-when" });
  const toggle = x.find(".settings-toggle");
  /** Whether the sheet is there, right below its button, for the eye and for Tab. */
  const place = (): boolean => {
    const sheet = document.querySelector("#settings");
    if (!sheet) return false;
    x.find(".under").after(sheet);
    sheet.append(...props.rows, when);
    for (const name of ["input", "change"]) sheet.addEventListener(name, props.touched);
    return true;
  };
  if (!place()) {
    // over a slow network Gradio may make it after the explorer
    const seen = new MutationObserver(() => {
      if (!place()) return;
      seen.disconnect();
      props.touched();
    });
    seen.observe(document.body, { childList: true, subtree: true });
  }
  const caption = new Text();
  const decoding = el("span");
  toggle.replaceChildren(icon("M6 4l4 4-4 4"), caption, decoding);
  toggle.addEventListener("click", () => {
    const open = document.body.classList.toggle("settings-open");
    toggle.setAttribute("aria-expanded", String(open));
    x.set({ size: {} });
  });
  return () => {
    const { trace } = x;
    // nothing is made yet: nothing is claimed
    const made = trace && !trace.live ? settingsText(trace) : "";
    const asked = props.shownWith();
    const waits = !!made && asked !== null && settingsAsked() !== asked;
    when.classList.toggle("waits", waits);
    when.textContent = waits
      ? t("Changed. Press Translate to use these settings; what is shown was made with: {made}.", {
          made,
        })
      : t("These settings take effect at the next press of Translate.");
    const said = waits ? [made, t("changed, not used yet")].join(" · ") : made;
    decoding.className = waits ? "muted waits" : "muted no-phone";
    write(decoding, said);
    if (caption.data !== t("Settings")) caption.data = t("Settings");
  };
};
