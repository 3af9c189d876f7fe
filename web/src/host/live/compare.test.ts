import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { channel, type Channel } from "./channel";
import type { Client } from "./client";
import type { Weights } from "./weights";

const mounted = vi.fn();
let mountLiveCompare: typeof import("./compare").mountLiveCompare;
let Stopped: typeof import("./client").Stopped;
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("../../tabs/compare/compare", () => ({ mountCompare: mounted }));
  ({ mountLiveCompare } = await import("./compare"));
  ({ Stopped } = await import("./client"));
});
afterAll(() => {
  vi.doUnmock("../../tabs/compare/compare");
  vi.resetModules();
});

let told: Channel<object>;
let calls: { given: { text: string; settings: object }; signal: AbortSignal }[];
let answers: ((error?: Error) => void)[];
const ready = vi.fn<Weights["ready"]>(async () => undefined);

beforeEach(() => {
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: [] },
    site: { offers: ["de-en", "en-zh"].map((direction) => ({ direction, label: direction })) },
  };
  document.body.innerHTML = '<div id="compare"></div><div id="compare-ask"></div>';
  [told, calls, answers] = [channel(), [], []];
  ready.mockClear();
  mounted.mockClear();
  const call = (name: string, given: never, { signal }: { signal: AbortSignal }) => {
    expect(name).toBe("stream");
    calls.push({ given, signal });
    return new Promise((done, fail) => {
      answers.push((error) => (error ? fail(error) : done({ of: calls.at(-1)!.given.text })));
      signal.addEventListener("abort", () => fail(new Stopped()));
    });
  };
  const client = { call } as unknown as Client;
  mountLiveCompare(client, { ready } as unknown as Weights, told, {} as never);
  for (const name of ["a", "b"])
    document.querySelector<HTMLTextAreaElement>(`#compare-${name} textarea`)!.value = name;
});
afterEach(() => void delete window.__explorerData);
const settle = () => new Promise((done) => setTimeout(done));
const press = async () => {
  document.querySelector<HTMLElement>("#compare-run")!.click();
  await settle();
};
const come = async (error?: Error) => {
  answers.at(-1)!(error);
  await settle();
};
const choose = (selector: string) =>
  (document.querySelector<HTMLInputElement>(selector)!.checked = true);

it("the tab is that of the served page, with two sentences that name themselves", () => {
  expect(mounted.mock.calls[0]![0]).toBe(document.querySelector("#compare"));
  expect(mounted.mock.calls[0]![1]).toBe(told.props);
  const labels = [...document.querySelectorAll<HTMLElement>("textarea")].map(
    ({ dataset }) => dataset.englishLabel,
  );
  expect(labels).toEqual(["Sentence A", "Sentence B"]);
});

describe("two sentences", () => {
  it("are translated one after the other, and told together", async () => {
    await press();
    expect(calls.map(({ given }) => given.text)).toEqual(["a"]);
    await come();
    expect(told.props.value).toBe("");
    await come();
    expect(told.props.value).toEqual({ a: { of: "a" }, b: { of: "b" } });
    expect(ready.mock.calls.map(([way]) => way)).toEqual(["de-en", "de-en"]);
  });

  it("that are sampled are not sampled alike", async () => {
    for (const name of ["a", "b"]) {
      for (const each of document.querySelectorAll<HTMLInputElement>(
        `#compare-method-${name} input`,
      ))
        each.checked = false;
      choose(`#compare-method-${name} input[value=sample]`);
    }
    await press();
    await come();
    expect(calls.map(({ given }) => given.settings)).toEqual([
      { method: "sample", seed: 0 },
      { method: "sample", seed: 1 },
    ]);
  });

  it("of which one is refused are told by its side", async () => {
    await press();
    await come();
    await come(new Error("the text is blank"));
    expect(told.props.value).toEqual({ error: "the text is blank", side: "b" });
  });

  it("are given up for those of the next press", async () => {
    await press();
    await press();
    expect(calls[0]!.signal.aborted).toBe(true);
    expect(told.props.value).toBe("");
    await come();
    await come();
    expect(told.props.value).toEqual({ a: { of: "a" }, b: { of: "b" } });
  });
});
