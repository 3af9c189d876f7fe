/* What is said below the field: why there is no translation, what is waited for. */

import { sentence } from "../../format/text";
import type { ExplorerContext } from "../../state/context";

type Needs = Pick<ExplorerContext, "enter" | "find" | "set">;

export interface Notice {
  say(text: string, isError?: boolean): void;
  /**
   * What the strip says too is left to it on the screen, while screen readers hear the notice; both
   * go together.
   */
  once(): void;
}

/** `isSaid`: whether the strip of the text's health says it too. */
export const makeNotice = (x: Needs, isSaid: (text: string) => boolean): Notice => {
  let said = "";
  const say: Notice["say"] = (text, isError = false) => {
    x.enter();
    said = text;
    const node = x.find(".notice");
    // the maps give way, so that the chain still fits one screen
    if (node.hidden !== !text) x.set({ size: {} });
    node.hidden = !text;
    node.classList.toggle("error", isError);
    node.classList.remove("vh");
    node.textContent = sentence(text || "");
    once();
    if (node.classList.contains("vh"))
      x.find("#input-health").animate([{ opacity: 0.2 }, { opacity: 1 }], 400);
    else if (text && isError) node.scrollIntoView({ block: "nearest" });
  };
  const once = () => {
    const node = x.find(".notice");
    const was = node.classList.contains("vh");
    const is = isSaid(said);
    if (was !== is) x.set({ size: {} });
    node.classList.toggle("vh", is);
    if (was && !is) say("");
  };
  return { say, once };
};
