import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Languages, Readiness } from "../../protocol/server";
import {
  directionIn,
  keepLanguages,
  offersDirection,
  rememberLanguages,
  setDirectionIn,
} from "./direction";

const MANY: Languages = {
  src: ["deu_Latn", "eng_Latn"],
  tgt: ["deu_Latn", "eng_Latn"],
  own: ["deu_Latn", "eng_Latn"],
};
const heard = vi.fn();

/** Radios of its own name: what is remembered of one group is nothing to another. */
let id = "";
let number = 0;
beforeEach(() => {
  id = `way-${++number}`;
  window.__explorerData = {
    examples: [],
    address: "",
    settings: [],
    directions: ["de-en", "many"],
  };
  document.body.innerHTML = `<div id="${id}">
    <input type="radio" value="de-en"><input type="radio" value="many">
  </div>`;
  // in place of a name in common: of such a group happy-dom finds `:checked` where it was before
  const radios = [...document.querySelectorAll<HTMLInputElement>(`#${id} input`)];
  document.getElementById(id)!.addEventListener("click", ({ target }) => {
    for (const radio of radios) if (radio !== target) radio.checked = false;
  });
  choose("de-en");
  heard.mockReset();
  document.getElementById(id)!.addEventListener("change", heard);
});
const choose = (name: string) =>
  document.querySelector<HTMLInputElement>(`#${id} [value="${name}"]`)!.click();
afterEach(() => void vi.useRealTimers());

describe("the direction of a group of radios", () => {
  it("is the one that is checked, or the page's first where there are none", () => {
    expect(directionIn(id)).toBe("de-en");
    expect(directionIn("elsewhere")).toBe("de-en");
    choose("many");
    expect(directionIn(id)).toBe("many");
  });

  it("is offered where a radio has its name, whatever languages it is to be with", () => {
    expect(["de-en", "many", "xx"].map((way) => offersDirection(id, way))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("is chosen as by a visitor, once, and not where nothing offers it", () => {
    setDirectionIn(id, "many");
    setDirectionIn(id, "many");
    setDirectionIn(id, "xx");
    expect(directionIn(id)).toBe("many");
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it("is the new one to whoever hears of the change, before Gradio has unchecked the other", () => {
    const group = document.getElementById(id)!;
    group.replaceWith(group.cloneNode(true)); // without the listener that unchecks at once
    document.querySelector<HTMLInputElement>(`#${id} input`)!.checked = true;
    const told: string[] = [];
    document.getElementById(id)!.addEventListener("change", () => told.push(directionIn(id)));
    setDirectionIn(id, "many");
    expect(told).toEqual(["many"]);
  });

  it("keeps its languages when another was chosen in between, until it is without", () => {
    const french = "many:fra_Latn-eng_Latn";
    rememberLanguages(id, french);
    expect(directionIn(id)).toBe("de-en");
    setDirectionIn(id, french);
    setDirectionIn(id, "de-en");
    expect(directionIn(id)).toBe("de-en");
    choose("many");
    expect(directionIn(id)).toBe(french);
    heard.mockReset();
    setDirectionIn(id, "many"); // the radio is checked: who listens is told all the same
    expect([directionIn(id), heard.mock.calls.length]).toEqual(["many", 1]);
  });
});

describe("what stands beside the radios", () => {
  it("are pickers of the checkpoint's languages, hidden beside another", async () => {
    const place = vi.fn<(node: HTMLElement) => void>();
    const ready = async ({ direction }: { direction: string }): Promise<Readiness> => ({
      state: "ready",
      ...(direction === "many" && { languages: MANY }),
    });
    keepLanguages(id, place, { ready } as never);
    choose("many");
    await vi.waitFor(() => expect(place).toHaveBeenCalledTimes(1));
    const node = place.mock.calls[0]![0];
    expect(node.hidden).toBe(false);
    expect(directionIn(id)).toBe("many");
    node.querySelector<HTMLElement>(".swap")!.click();
    expect(directionIn(id)).toBe("many:eng_Latn-deu_Latn");
    choose("de-en");
    expect(node.hidden).toBe(true);
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);
  it("is asked for again until the model is there, and seldom where nobody wants it", async () => {
    vi.useFakeTimers();
    const answers: Readiness[] = [{ state: "" }, { state: "loading" } as Readiness];
    const ready = vi.fn(async () => answers.shift() ?? ({ state: "ready" } as Readiness));
    const place = vi.fn();
    keepLanguages(id, place, { ready } as never);
    await settle();
    await vi.advanceTimersByTimeAsync(4999);
    expect(ready).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ready).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(ready).toHaveBeenCalledTimes(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ready).toHaveBeenCalledTimes(3); // a checkpoint of two languages needs no pickers
    expect(place).not.toHaveBeenCalled();
  });

  it("an answer about a direction that is not chosen any more is nothing", async () => {
    vi.useFakeTimers();
    let answer: (ready: Readiness) => void = () => {};
    const ready = vi.fn(() => new Promise<Readiness>((done) => (answer = done)));
    const place = vi.fn();
    keepLanguages(id, place, { ready } as never);
    await settle();
    const first = answer;
    choose("many");
    first({ state: "loading" });
    await vi.advanceTimersByTimeAsync(2000); // it is not asked for again
    expect(ready.mock.calls).toEqual([[{ direction: "de-en" }], [{ direction: "many" }]]);
    expect(place).not.toHaveBeenCalled();
  });
});
