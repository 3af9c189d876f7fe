/* Compare without a server: both sides by the worker, then what the served page would answer. */

import type { Sentence } from "../../i18n/words";
import { el } from "../../dom/element";
import { mountCompare } from "../../tabs/compare/compare";
import type { Channel } from "./channel";
import { Stopped, type Client } from "./client";
import { directions, methods } from "./form";
import { site } from "./site";
import type { Weights } from "./weights";

/** A sentence with its direction and its decoding. */
const side = (name: "a" | "b"): HTMLElement => {
  const label = `Sentence ${name.toUpperCase()}`;
  const text = el("textarea", {
    rows: 1,
    spellcheck: "false",
    translate: "no",
    "data-english-label": label,
  });
  const way = el("div", { class: "segments", id: `compare-direction-${name}` });
  way.append(directions(`direction-${name}`, site().offers[0]!.direction));
  const how = el("div", { class: "segments", id: `compare-method-${name}` });
  how.append(methods(`method-${name}`));
  return el(
    "div",
    { class: "compare-side" },
    el("div", { id: `compare-${name}` }, el("label", {}, text)),
    el("div", { class: "row" }, way, how),
  );
};

export const mountLiveCompare = (
  client: Client,
  weights: Weights,
  { props, watch, tell }: Channel<object>,
  fields: Parameters<typeof mountCompare>[3],
): void => {
  const button = el("button", {
    type: "button",
    id: "compare-run",
    text: "Compare both" satisfies Sentence,
  });
  document.querySelector("#compare-ask")!.append(side("a"), side("b"), button);
  mountCompare(document.querySelector("#compare")!, props, watch, fields);
  let stopper = new AbortController();
  const chosen = (what: string, name: string) =>
    document.querySelector<HTMLInputElement>(`#compare-${what}-${name} input:checked`)!.value;
  const translated = async (name: string, seed: number, signal: AbortSignal) => {
    const direction = chosen("direction", name);
    const method = chosen("method", name);
    const text = document.querySelector<HTMLTextAreaElement>(`#compare-${name} textarea`)!.value;
    const settings = {
      ...(method === "automatic" ? {} : { method }),
      ...(method === "sample" ? { seed } : {}), // two samples of one sentence are two
    };
    await weights.ready(direction, signal);
    return client.call("stream", { direction, text, settings }, { signal });
  };
  button.addEventListener("click", async () => {
    stopper.abort();
    stopper = new AbortController();
    const { signal } = stopper;
    const payloads: Record<string, object> = {};
    for (const [seed, name] of ["a", "b"].entries())
      try {
        payloads[name] = await translated(name, seed, signal);
      } catch (error) {
        if (error instanceof Stopped) return;
        return tell({ error: (error as Error).message, side: name });
      }
    tell(payloads);
  });
};
