/* A request that is under way: the page shows it, and gives up on a server that is gone. */

import { serverGone } from "./server";

const IDLE_AFTER = 45_000; // ms without a message: the page gives up
const PULSE = 3000; // ms between questions whether the server is still there

export const isBusy = (): boolean => document.body.classList.contains("busy");

/**
 * What turns it on and off; `lost` is called when nothing comes any more, `gone` asked whether
 * anybody answers.
 */
export const makeBusy = (
  lost: () => void,
  gone: () => Promise<boolean> = serverGone,
): ((on: boolean) => void) => {
  let timer = 0;
  let pulse = 0;
  const busy = (on: boolean) => {
    document.body.classList.toggle("busy", on);
    clearTimeout(timer);
    clearInterval(pulse);
    if (!on) return;
    const giveUp = () => {
      busy(false);
      lost();
    };
    timer = window.setTimeout(giveUp, IDLE_AFTER);
    const mine = (pulse = window.setInterval(async () => {
      if ((await gone()) && mine === pulse) giveUp();
    }, PULSE));
  };
  return busy;
};
