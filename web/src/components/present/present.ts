/* The mode to present in: large maps and letters and few controls, to be read from the last row. */

import { t } from "../../i18n/words";
import type { ExplorerContext, Part } from "../../state/context";

type Needs = Pick<ExplorerContext, "root" | "find" | "state" | "trace" | "set" | "moved" | "onKey">;

const KEY = "f";
/** Where a letter is typed. */
const TYPED = "input:not([type=range], [type=checkbox]), select, textarea, dialog";

export const makePresent = (x: Needs): Part => {
  const button = x.find<HTMLButtonElement>(".present");
  const turn = (presenting: boolean) => x.set({ presenting, size: {}, hover: null, fit: false });
  button.addEventListener("click", () => turn(!x.state.presenting));
  x.onKey((event) => {
    const typed = (event.target as Element).closest(TYPED);
    if (typed || event.ctrlKey || event.metaKey || event.altKey || !x.trace) return;
    if (event.key === "Escape" && x.state.presenting) turn(false);
    else if (event.key.toLowerCase() === KEY) turn(!x.state.presenting);
    else return;
    event.preventDefault();
  });
  const paint = () => {
    const { presenting } = x.state;
    if (x.root.classList.toggle("presenting", presenting) && scrollY) scrollTo(0, 0);
    button.setAttribute("aria-pressed", String(presenting));
    button.title = presenting ? t("Leave the presentation (Esc)") : t("Large, for a projector (F)");
    x.moved();
  };
  return { needs: ["presenting", "language"], paint };
};
