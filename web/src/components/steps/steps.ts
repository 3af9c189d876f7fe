/* The step control: one step back or on, play, and the text of the present step. */

import { el, write } from "../../dom/element";
import { clamp, two } from "../../format/number";
import { t, tParts } from "../../i18n/words";
import type { ExplorerContext, Part } from "../../state/context";

type Needs = Pick<
  ExplorerContext,
  "root" | "signal" | "find" | "state" | "trace" | "set" | "onKey"
>;

const PACE = 700; // ms a step, at the speed of 1
const PLAY = "M5 3.2v9.6L12.5 8z";
const PAUSE = "M4.5 3.2h2.6v9.6H4.5zM8.9 3.2h2.6v9.6H8.9z";
/** What has a use of its own for arrows and the space bar. */
const BUSY =
  "input,select,textarea,button,summary,[role=application],[role=grid],dialog,[role=tab]";

export const makeSteps = (x: Needs): Part & { stop: () => void } => {
  const slider = x.find<HTMLInputElement>("#step-slider");
  const out = x.find(".stepout");
  const [where, read, likely, entropy] = ["where", "", "pp", "entropy"].map((name) =>
    el("span", { class: name || null }),
  );
  const play = x.find("[data-play]");
  const sign = play.querySelector("path")!;
  let timer = 0;
  const go = (step: number) => x.set({ step: clamp(step, 0, x.trace.tgt.length - 1), hover: null });
  const stop = () => {
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    x.set({ playing: false });
  };
  const atEnd = () => x.state.step >= x.trace.tgt.length - 1;
  const speed = x.find<HTMLSelectElement>(".speed");
  const run = () => {
    const every = PACE / Number(speed.value);
    timer = window.setInterval(() => (atEnd() ? stop() : go(x.state.step + 1)), every);
  };
  const start = () => {
    if (atEnd()) go(0);
    x.set({ playing: true });
    run();
  };
  speed.addEventListener("change", () => {
    if (!timer) return;
    clearInterval(timer);
    run();
  });
  const toggle = () => (timer ? stop() : start());
  x.signal.addEventListener("abort", stop);

  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value) - 1);
  });
  x.root.querySelectorAll<HTMLElement>("[data-move]").forEach((button) =>
    button.addEventListener("click", () => {
      stop();
      go(x.state.step + Number(button.dataset.move));
    }),
  );
  play.addEventListener("click", toggle);
  x.onKey((event) => {
    const target = event.target as Element;
    const free = !target.closest(BUSY) || target.closest(".chain .chip");
    if (!free || !x.trace || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight")
      go(x.state.step + (event.key === "ArrowLeft" ? -1 : 1));
    else if (event.key === " " && !target.closest("button")) toggle();
    else return;
    event.preventDefault();
  });

  const paint = () => {
    const { step, playing } = x.state;
    const total = x.trace.tgt.length;
    if (!total) return; // self-attention of one text alone
    const { lp, h } = x.trace.steps[step];
    slider.max = String(total);
    slider.value = String(step + 1);
    slider.style.setProperty("--fill", (total > 1 ? (100 * step) / (total - 1) : 100) + "%");
    const words = { reads: x.trace.reads[step].s, predicts: x.trace.tgt[step].s };
    write(where, t("Step {n} of {total}", { n: step + 1, total }));
    write(read, ...tParts("reads {reads}, predicts {predicts}", words));
    write(likely, `p = ${two(Math.exp(lp))}`);
    write(entropy, ...tParts("entropy {h} nats", { h: h.toFixed(2) }));
    const said = x.trace.scored ? [where, read, likely, entropy] : [where, read];
    if (out.children.length !== said.length) out.replaceChildren(...said);
    slider.setAttribute("aria-valuetext", out.textContent);
    play.setAttribute("aria-label", playing ? t("Pause") : t("Play"));
    sign.setAttribute("d", playing ? PAUSE : PLAY);
  };
  return { needs: ["trace", "step", "playing", "language"], paint, stop };
};
