import { beforeEach, describe, expect, it, vi } from "vitest";
import { remember } from "../../dom/storage";
import type { HubList, HubModel } from "../../protocol/hub";
import { hubDialog } from "./hub";

const model = (more: Partial<HubModel> = {}): HubModel => ({
  name: "opus-mt-de-fr",
  id: "Helsinki-NLP/opus-mt-de-fr",
  size: 298e6,
  licence: "apache-2.0",
  languages: ["de", "fr"],
  state: "",
  done: 0,
  error: "",
  ...more,
});

const shown = (list: HubList | null, refused = "") => {
  const does = { onFetch: vi.fn(), onStop: vi.fn(), onUse: vi.fn() };
  const made = hubDialog({ list, refused, ...does });
  document.body.replaceChildren(made.node);
  const rows = [...made.node.querySelectorAll("li")];
  const button = (at = 0) => rows[at].querySelector("button")!;
  return { ...made, ...does, rows, button, note: made.node.querySelector(".hub-note")! };
};

describe("the list of models on the hub", () => {
  beforeEach(() => remember("language", "en"));

  it("says name, languages, size and licence of each", () => {
    const many = model({ name: "m2m100_418M", size: 1.94e9, licence: "mit", languages: [] });
    const { rows } = shown({ reached: true, models: [model(), many] });
    expect(rows[0].textContent).toContain("opus-mt-de-frGerman → French · 298 MB · apache-2.0");
    expect(rows[1].textContent).toContain("a hundred languages · 1.9 GB · mit");
  });

  it("fetches, stops and uses by one button", () => {
    const asked = shown({ reached: true, models: [model()] });
    asked.button().click();
    expect(asked.onFetch).toHaveBeenCalledExactlyOnceWith("opus-mt-de-fr");
    const running = shown({ reached: true, models: [model({ state: "fetching", done: 149e6 })] });
    const bar = running.rows[0].querySelector("progress")!;
    expect([bar.value, bar.max]).toEqual([149e6, 298e6]);
    expect(running.rows[0].textContent).toContain("149 MB of 298 MB");
    running.button().click();
    expect(running.onStop).toHaveBeenCalledExactlyOnceWith("opus-mt-de-fr");
    const here = shown({ reached: true, models: [model({ state: "here" })] });
    here.button().click();
    expect(here.onUse).toHaveBeenCalledExactlyOnceWith("opus-mt-de-fr");
  });

  it("keeps a button under the finger while bytes come", () => {
    const coming = (done: number) => ({
      reached: true,
      models: [model({ state: "fetching", done })],
    });
    const { button, node, update, onFetch, onStop, onUse } = shown(coming(0));
    const pressed = button();
    update({ list: coming(149e6), refused: "", onFetch, onStop, onUse });
    expect(node.querySelector("li button")).toBe(pressed);
    expect(node.querySelector("li")!.textContent).toContain("149 MB of 298 MB");
    update({
      list: { reached: true, models: [model({ state: "here" })] },
      refused: "",
      onFetch,
      onStop,
      onUse,
    });
    expect(node.querySelector("li button")!.textContent).toBe("Use");
    update({ list: { reached: true, models: [] }, refused: "", onFetch, onStop, onUse });
    expect(node.querySelectorAll("li")).toHaveLength(0);
  });

  it("fetches one at a time", () => {
    const models = [model({ state: "fetching" }), model({ name: "opus-mt-en-fr" })];
    const { button } = shown({ reached: true, models });
    expect([button(0).disabled, button(1).disabled]).toEqual([false, true]);
  });

  it("says where there is no network, and still uses what is here", () => {
    const models = [model({ state: "here" }), model({ name: "opus-mt-en-fr" })];
    const { button, note } = shown({ reached: false, models });
    expect(note.textContent).toContain("cannot be reached");
    expect([button(0).disabled, button(1).disabled]).toEqual([false, true]);
  });

  it("says why a model was not fetched, and keeps the focus as it is drawn anew", () => {
    const list = { reached: true, models: [model({ error: "the disk is full" })] };
    const { rows, button, node, update, onFetch, onStop, onUse } = shown(list);
    expect(rows[0].textContent).toContain("The disk is full");
    button().focus();
    update({ list, refused: "", onFetch, onStop, onUse });
    expect(document.activeElement).toBe(node.querySelector("li button"));
  });
});
