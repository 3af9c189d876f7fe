import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { paintedWhole } from "../../test/context";
import { Translation } from "../../trace/translation";
import type { Shape } from "../../protocol/messages";
import { payload } from "../../test/example";
import STEP from "../../../../tests/protocol/step.json";
import { channel, type Channel } from "../live/channel";

paintedWhole();

const TRACE = payload();
let told: Channel<object | string>;
let number = 0;
/** The page's own modules, whatever other files have opened. */
let entry: typeof import("./entry").entry;
let mountExplorer: typeof import("./explorer").mountExplorer;
beforeAll(async () => {
  vi.resetModules();
  ({ entry } = await import("./entry"));
  ({ mountExplorer } = await import("./explorer"));
});
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", async () => ({ ok: true, status: 200, json: async () => payload() }));
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [] },
    directions: ["de-en", "en-zh"],
  };
  document.body.innerHTML = `<div id="source-text"><textarea></textarea></div>
    <div id="translation"><textarea></textarea></div>
    <div id="direction"><input type="radio" value="de-en" checked></div>
    <div id="settings"><div id="method"><input type="radio" value="greedy" checked></div></div>
    <button id="translate">Translate</button><button id="stop">Stop</button>
    <div id="explorer"></div>`;
  told = channel();
  mountExplorer(document.querySelector("#explorer")!, told.props, told.watch, null);
});
afterEach(() => {
  document.querySelector<HTMLElement>("#stop")!.click();
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  document.body.classList.remove("busy");
  history.replaceState(null, "", "/");
});
afterAll(() => {
  delete window.__explorerData;
  vi.resetModules();
});
const paint = () => vi.advanceTimersByTimeAsync(100);
/** As the server does. */
const say = (message: object) => told.tell(JSON.stringify({ ...message, number: ++number }));
const send = async (message: object) => {
  say(message);
  await paint();
};
const press = (id: string) => document.querySelector<HTMLElement>(id)!.click();
const busy = () => document.body.classList.contains("busy");
const notice = () => document.querySelector("#explorer .notice")!.textContent;
const translation = () =>
  document.querySelector<HTMLTextAreaElement>("#translation textarea")!.value;
const shown = () => entry.explorer!.trace?.source;

describe("an answer", () => {
  it("to what was asked for last is shown, with its translation in the field", async () => {
    press("#translate");
    expect([busy(), entry.run!()]).toEqual([true, 1]);
    await send({ ...TRACE, run: 1 });
    expect([busy(), shown(), translation()]).toEqual([false, TRACE.source, TRACE.translation]);
  });

  it("of the page's own worker is taken as it is, its weights as numbers", async () => {
    press("#translate");
    const served = new Translation(TRACE);
    const { encoder, decoder, cross } = TRACE.shapes;
    const [layers, heads, rows] = decoder;
    const triangle = (rows * (rows + 1)) / 2;
    const size = ([a, b, c, d]: Shape) => a * b * c * d;
    told.tell({
      ...{ ...TRACE, run: 1, encoding: "f32" },
      rollout: served.rolled,
      weights: {
        encoder: served.maps.encoder.values.slice(0, size(encoder)),
        decoder: new Float32Array(layers * heads * triangle).fill(0.25),
        cross: served.maps.cross.values.slice(0, size(cross)),
      },
    });
    await paint();
    expect(shown()).toBe(TRACE.source);
    const { maps, rolled, encoding } = entry.explorer!.trace!;
    expect([maps.encoder, maps.cross]).toEqual([served.maps.encoder, served.maps.cross]);
    expect([...maps.decoder.values.slice(0, rows)]).toEqual(
      [...Array(rows).keys()].map((column) => (column ? 0 : 0.25)),
    );
    expect([rolled, encoding]).toEqual([served.rolled, "f32"]);
  });

  it("to something else is nothing", async () => {
    press("#translate");
    press("#translate");
    await send({ ...TRACE, run: 1 });
    expect([busy(), shown()]).toEqual([true, undefined]);
  });

  it("that was stopped is nothing, and what was shown before stays", async () => {
    press("#translate");
    await send({ ...TRACE, run: 1 });
    press("#translate");
    press("#stop");
    expect([busy(), notice()]).toEqual([false, "Stopped."]);
    await send({ ...TRACE, source: "something else", run: 2 });
    expect(shown()).toBe(TRACE.source);
  });

  it("is shown by the newest of its steps, which the whole one leaves behind", async () => {
    press("#translate");
    for (const text of ["I", "I run"]) say({ ...STEP, run: 1, translation: text });
    expect(translation()).toBe("");
    await paint();
    expect([busy(), translation()]).toEqual([true, "I run"]);
    say({ ...STEP, run: 1, translation: "I run into" });
    await send({ ...TRACE, run: 1 });
    expect([busy(), shown(), translation()]).toEqual([false, TRACE.source, TRACE.translation]);
  });

  it("that was stopped shows no step that still waits", async () => {
    press("#translate");
    say({ ...STEP, run: 1, translation: "I run" });
    press("#stop");
    await paint();
    expect(busy()).toBe(false);
    expect(translation()).not.toBe("I run");
  });

  it("that is a refusal is said, and takes back nothing that was shown", async () => {
    press("#translate");
    await send({ ...TRACE, run: 1 });
    press("#translate");
    await send({ kind: "error", run: 2, text: "the text is blank" });
    expect(notice()!.toLowerCase()).toContain("the text is blank");
    expect([busy(), shown(), translation()]).toEqual([false, TRACE.source, TRACE.translation]);
  });

  it("that is still to come is said meanwhile", async () => {
    press("#translate");
    await send({ kind: "waiting", run: 1, text: "The model is loading." });
    expect([busy(), notice()]).toEqual([true, "The model is loading."]);
  });

  it("that never comes is given up", async () => {
    press("#translate");
    await vi.advanceTimersByTimeAsync(46_000);
    expect(busy()).toBe(false);
    expect(notice()).toContain("No answer from the server");
    await send({ ...TRACE, run: 1 }); // and is not shown when it comes all the same
    expect(shown()).toBeUndefined();
  });
});

it("what the page opens with is put into the fields, in the order they were given", () => {
  history.replaceState(null, "", "/");
  expect(entry.opened!(["Guten Tag", "de-en", "greedy"])).toEqual(["Guten Tag", "de-en", "greedy"]);
  expect(entry.go).toBeTypeOf("function");
});
