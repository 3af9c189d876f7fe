/* What is seen while the model works on a question. */

import { t } from "../../i18n/words";
import type { Progress } from "../../protocol/lab";

export type Find = <E extends Element = HTMLElement>(selector: string) => E;

const TICK = 250; // ms

/** A row of seconds while the model works, and how far it is where it says so. */
export const makeWaiting = (
  find: Find,
  progress: () => Promise<Progress>,
): ((on: boolean) => void) => {
  let timer = 0;
  let number = 0;
  const far = async (mine: number) => {
    const { done, all } = await progress();
    const bar = find<HTMLProgressElement>(".lab-far");
    if (mine !== number || !all) return;
    bar.hidden = false;
    bar.max = all;
    bar.value = done ?? 0;
  };
  return (on) => {
    const began = Date.now();
    const mine = ++number;
    const say = () => {
      const seconds = Math.round((Date.now() - began) / 1000);
      find(".lab-wait").textContent = on ? t("The model is at work: {seconds} s", { seconds }) : "";
      if (on) void far(mine);
    };
    clearInterval(timer);
    find(".lab-far").hidden = true;
    find(".lab-view").setAttribute("aria-busy", String(on));
    find(".lab-stop-view").hidden = !on;
    if (on) timer = window.setInterval(say, TICK);
    else say();
  };
};
