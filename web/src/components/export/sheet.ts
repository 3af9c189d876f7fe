/* How a picture is written: its width, the resolution of a PNG, and whether it says what it
   shows. */

import { el } from "../../dom/element";
import { recall, remember } from "../../dom/storage";
import { t } from "../../i18n/words";
import type { ExplorerContext } from "../../state/context";

export interface Chosen {
  caption: boolean;
  /** Millimetres; null: as it is on the screen. */
  width: number | null;
  dpi: number;
}

/** Widths of a column and of a page in journals, in millimetres. */
const WIDTHS = [85, 120, 170];
const RESOLUTIONS = [192, 300, 600];
const KEYS = { caption: "export-caption", width: "export-width", dpi: "export-dpi" };

export const makeSheet = (
  x: Pick<ExplorerContext, "find" | "signal">,
): { chosen: () => Chosen; speak: () => void } => {
  const width = el("select", { class: "pick paper-width" });
  const dpi = el("select", { class: "pick paper-dpi" });
  const caption = el("input", { type: "checkbox", class: "paper-caption" });
  caption.checked = recall(KEYS.caption) !== "off";
  const names = [el("span"), el("span"), el("span")];
  x.find(".paper-sheet").append(
    el("label", { class: "line" }, names[0], width),
    el("label", { class: "line" }, names[1], dpi),
    el("label", { class: "check" }, caption, names[2]),
  );
  const details = x.find<HTMLDetailsElement>(".paper");
  const outside = ({ target }: Event) => {
    if (!details.contains(target as Node)) details.open = false;
  };
  document.addEventListener("click", outside, { signal: x.signal });
  details.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") details.open = false;
  });
  const fill = (node: HTMLSelectElement, key: string, options: [string, string][]) => {
    const was = node.value || recall(key) || "";
    node.replaceChildren(...options.map(([value, text]) => el("option", { value, text })));
    node.value = options.some(([value]) => value === was) ? was : options[0][0];
  };
  width.addEventListener("change", () => remember(KEYS.width, width.value));
  dpi.addEventListener("change", () => remember(KEYS.dpi, dpi.value));
  caption.addEventListener("change", () => remember(KEYS.caption, caption.checked ? "on" : "off"));
  return {
    chosen: () => ({
      caption: caption.checked,
      width: width.value ? Number(width.value) : null,
      dpi: Number(dpi.value),
    }),
    speak: () => {
      fill(width, KEYS.width, [
        ["", t("as on the screen")],
        ...WIDTHS.map((mm): [string, string] => [String(mm), `${mm} mm`]),
      ]);
      fill(
        dpi,
        KEYS.dpi,
        RESOLUTIONS.map((each): [string, string] => [String(each), `${each} dpi`]),
      );
      names[0].textContent = t("Width");
      names[1].textContent = t("Resolution of a PNG");
      names[2].textContent = t("With sentence, head, checkpoint and settings");
    },
  };
};
