import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { takeQuestion } from "../../state/ask";
import { blankCanvases } from "../../test/context";
import { payload } from "../../test/example";
import { sketchPlotly } from "../../test/plotly";
import type { Field, PageFields } from "../page";
import { mountCompare } from "./compare";

const A = "de-en-in-den";
const B = "de-en-in-dem";
const CHINESE = ["en-zh-tired", "en-zh-wide"];

/**
 * The fields that Gradio has for the tab: two sentences, their directions, how they are decoded.
 */
const FIELDS = ["a", "b"].map(
  (side) => `<textarea id="compare-${side}"></textarea>
    <div id="compare-method-${side}"><input type="radio" value="beam" /></div>`,
);

const directions: Record<string, string> = {};
let own = ""; // the page's direction
const page = {
  field: (id: string) => document.querySelector<Field>("#" + id),
  setField: (node: Field | null, value: string) => void (node!.value = value),
  direction: (id?: string) => (id ? directions[id] : own),
  setDirection: (way: string, id: string) => void (directions[id] = way),
  offers: (way: string) => ["de-en", "en-zh"].includes(way),
  settled: Promise.resolve(),
} as unknown as PageFields;

let stop: AbortController;
beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  for (const target of [window, document]) {
    const listen = target.addEventListener.bind(target);
    vi.spyOn(target, "addEventListener").mockImplementation(((type: string, run: never) =>
      listen(type, run, { signal: stop.signal })) as never);
  }
  blankCanvases();
  sketchPlotly();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
  Object.assign(directions, { "compare-direction-a": "en-zh", "compare-direction-b": "en-zh" });
});
afterEach(() => {
  vi.useRealTimers();
  stop.abort();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  delete window.Plotly;
  delete window.__explorerData;
  takeQuestion();
  own = "";
  history.replaceState(null, "", "/");
});

/** The tab on a page with these examples; `stored` may hold their files back. */
const tab = async (ids: string[], stored = (id: string) => Promise.resolve(payload(id))) => {
  document.body.innerHTML = `${FIELDS.join("")}<button id="compare-run"></button><main></main>`;
  const examples = ids.map((id) => ({ id, direction: id.slice(0, 5), text: payload(id).source }));
  window.__explorerData = { examples, address: "/files/", settings: [], directions: [] };
  vi.stubGlobal("fetch", async (address: string) => {
    const id = /^\/files\/(.*)\.json$/.exec(address)![1];
    return { ok: true, json: () => stored(id) };
  });
  const props: { value?: string } = {};
  let changed = () => {};
  const element = document.querySelector("main")!;
  mountCompare(element, props, (_, run) => (changed = run), page);
  const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  await wait(1);
  const find = <E extends Element = HTMLElement>(selector: string) =>
    document.querySelector<E>(selector)!;
  const said = () => [...element.querySelectorAll(".said")].map((node) => node.textContent);
  const receives = async (value: unknown) => {
    props.value = typeof value === "string" ? value : JSON.stringify(value);
    changed();
    await wait(1);
  };
  return { find, said, receives, wait };
};
const both = (ids: string[]) => ["A: ", "B: "].map((name, n) => name + payload(ids[n]).translation);

describe("the tab that compares", () => {
  it("opens with the first pair of the page's examples, and writes them into its fields", async () => {
    const { find, said, wait } = await tab([A, B]);
    expect(said()).toEqual(both([A, B]));
    expect(find<Field>("#compare-a").value).toBe(payload(A).source);
    expect(find<Field>("#compare-b").value).toBe(payload(B).source);
    expect(find(".pairs").textContent).toBe("in den Park / in dem Park");
    const busy = () => find(".cx").getAttribute("aria-busy");
    expect(busy()).toBe("true");
    await wait(400);
    expect(Object.values(directions)).toEqual(["de-en", "de-en"]);
    expect(busy()).toBeNull();
  });

  it("opens with the pair of the page's direction, on the word that both differ in", async () => {
    own = "en-zh";
    const { said, find, wait } = await tab([A, B, ...CHINESE]);
    expect(said()).toEqual(both(CHINESE));
    expect(find<Field>("#compare-a").value).toBe(payload(CHINESE[0]).source);
    await wait(400);
    const by = (node: HTMLElement) => node.textContent;
    const byItself = [...document.querySelectorAll<HTMLElement>("main .where, main .said")].map(by);
    find<HTMLElement>(".pairs button:last-child").click();
    await wait(400);
    expect([...document.querySelectorAll<HTMLElement>("main .where, main .said")].map(by)).toEqual(
      byItself,
    );
  });

  it("puts a direction right again that Gradio took back while it built the tab", async () => {
    const { wait } = await tab([A, B]);
    directions["compare-direction-b"] = "en-zh";
    await wait(400);
    expect(directions["compare-direction-b"]).toBe("de-en");
    directions["compare-direction-b"] = "en-zh"; // later it is somebody's wish
    await wait(5000);
    expect(directions["compare-direction-b"]).toBe("en-zh");
  });

  it("shows the pair that was asked for last", async () => {
    const files: Record<string, () => void> = {};
    const slow = (id: string) =>
      new Promise<ReturnType<typeof payload>>((done) => (files[id] = () => done(payload(id))));
    const { find, said, wait } = await tab([A, B, ...CHINESE], slow);
    find<HTMLElement>(".pairs button:last-child").click();
    await wait(1);
    for (const id of [...CHINESE, A, B]) files[id]();
    await wait(1);
    expect(said()).toEqual(both(CHINESE));
    expect(find<Field>("#compare-a").value).toBe(payload(CHINESE[0]).source);
  });

  it("says where there is nothing to show, or an example is not stored", async () => {
    const { find } = await tab([A]);
    expect(find(".notice").textContent).toBe("Nothing translated yet.");
    const other = await tab([A, B], () => Promise.reject(new Error("gone")));
    expect(other.find(".notice").textContent).toBe("This example is not stored.");
  });

  it("shows what the server answers, and names the side that it refuses", async () => {
    const { find, said, receives } = await tab([A, B]);
    await receives({ a: payload(B), b: payload(A) });
    expect(said()).toEqual(["A: " + payload(B).translation, "B: " + payload(A).translation]);
    await receives({ error: "The sentence is blank.", side: "b" });
    expect(find(".notice").textContent).toBe("Sentence B: The sentence is blank.");
    await receives({ a: payload(A), b: payload(B) });
    expect(find(".notice").hidden).toBe(true);
    await receives("no answer at all");
    expect(find(".notice").textContent).toContain("The answer could not be read.");
  });

  it("asks the lab what carries a difference, of one checkpoint and two sentences", async () => {
    const { find, receives } = await tab([A, B]);
    expect(find(".carries").hidden).toBe(true); // the page has no lab
    document.body.insertAdjacentHTML("beforeend", '<div id="tabs"></div>');
    await receives({ a: payload(A), b: payload(B) });
    expect(find(".carries").hidden).toBe(false);
    find(".carries").click();
    expect(takeQuestion()).toMatchObject({
      ...{ view: "patch", text: payload(A).source, direction: "de-en" },
      options: { other: payload(B).source },
    });
    await receives({ a: payload(A), b: payload(A) });
    expect(find(".carries").hidden).toBe(true);
  });

  it("fills its fields as a link says, and has them translated", async () => {
    const part = new URLSearchParams({
      compare: "1",
      a: "Eins.",
      b: "Zwei.",
      ad: "de-en",
      bd: "de-en",
    });
    history.replaceState(null, "", `#${part}&am=beam`);
    const pressed = vi.fn();
    document.addEventListener("click", (event) => {
      if ((event.target as Element).id === "compare-run") pressed();
    });
    const { find, wait } = await tab([A, B]);
    await wait(1000);
    expect([find<Field>("#compare-a").value, find<Field>("#compare-b").value]).toEqual([
      "Eins.",
      "Zwei.",
    ]);
    expect(Object.values(directions)).toEqual(["de-en", "de-en"]);
    expect(find<HTMLInputElement>("#compare-method-a input").checked).toBe(true);
    expect(find<HTMLInputElement>("#compare-method-b input").checked).toBe(false);
    expect(pressed).toHaveBeenCalledOnce();
  });
});
