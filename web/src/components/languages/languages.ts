/* From which language into which, for a checkpoint that has many: two searched lists, and a button
   that swaps them. */

import { el, icon, label } from "../../dom/element";
import { namedLanguages } from "../../i18n/language-names";
import { t } from "../../i18n/words";
import type { Languages } from "../../protocol/server";
import type { LanguagePair } from "../../state/direction";
import { combo } from "./combo";

export interface LanguagesProps {
  languages: Languages;
  chosen: LanguagePair;
  onChoose: (pair: LanguagePair) => void;
}

const SWAP = "M3 5.5h9M9.5 3L12 5.5 9.5 8M13 10.5H4M6.5 8L4 10.5 6.5 13";

/** Whether a checkpoint can translate between these two. */
export const knowsPair = ({ src, tgt }: Languages, pair: LanguagePair): boolean =>
  src.includes(pair.src) && tgt.includes(pair.tgt);

export const languagePickers = (
  props: LanguagesProps,
): { node: HTMLElement; update: (props: LanguagesProps) => void } => {
  let now = props;
  const swapped = (): LanguagePair => ({ src: now.chosen.tgt, tgt: now.chosen.src });
  const swap = el(
    "button",
    { type: "button", class: "swap", on: { click: () => now.onChoose(swapped()) } },
    icon(SWAP),
  );
  const sideProps = (side: keyof LanguagePair) => ({
    label: side === "src" ? t("Source language") : t("Target language"),
    options: namedLanguages(now.languages[side]),
    chosen: now.chosen[side],
    onPick: (code: string) => {
      if (code !== now.chosen[side]) now.onChoose({ ...now.chosen, [side]: code });
    },
  });
  const sides = { src: combo(sideProps("src")), tgt: combo(sideProps("tgt")) };
  const node = el(
    "div",
    { class: "languages", role: "group" },
    sides.src.node,
    swap,
    sides.tgt.node,
  );
  const update = (next: LanguagesProps) => {
    now = next;
    for (const side of ["src", "tgt"] as const) sides[side].update(sideProps(side));
    node.setAttribute("aria-label", t("Languages of the translation"));
    label(swap, t("Swap languages"));
    swap.disabled = !knowsPair(now.languages, swapped());
  };
  update(props);
  return { node, update };
};
