import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Facts } from "../../components/health/health";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { example } from "../../test/example";
import { makeInspection } from "./inspection";

const health = { show: vi.fn(), facts: vi.fn(), seems: vi.fn(), holds: vi.fn(() => true) };
const trace = example();
const x = { trace, health } as unknown as Explorer;
let answers: ((facts: Facts) => void)[];
let fails: ((error: Error) => void)[];
const inspect = vi.fn();
const server = { inspect } as unknown as ExplorerServer;
const FACTS = { words: 2, tokens: 3 } as Facts;

beforeEach(() => {
  vi.useFakeTimers();
  [answers, fails] = [[], []];
  for (const each of Object.values(health)) each.mockClear();
  inspect.mockReset();
  inspect.mockImplementation(
    () => new Promise<Facts>((done, fail) => (answers.push(done), fails.push(fail))),
  );
  document.body.innerHTML = `<div id="source-text"><textarea></textarea></div>
    <div id="direction"><input type="radio" value="de-en" checked></div>`;
});
afterEach(() => void vi.useRealTimers());
const type = (text: string) =>
  (document.querySelector<HTMLTextAreaElement>("#source-text textarea")!.value = text);
const rest = () => vi.advanceTimersByTimeAsync(250);
const told = () => health.facts.mock.calls.map(([facts]) => facts as Facts);

it("asks once, when the keys have rested", async () => {
  const look = makeInspection(x, server);
  for (const text of ["G", "Gu", "Guten"]) {
    type(text);
    look();
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(inspect).not.toHaveBeenCalled();
  await rest();
  expect(inspect.mock.calls).toEqual([[{ text: "Guten", direction: "de-en" }]]);
  answers[0]!(FACTS);
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toEqual([FACTS]);
  expect(health.seems).toHaveBeenCalledWith("Guten", "de-en", FACTS);
});

it("does not ask again what it knows, nor what is on its way", async () => {
  const look = makeInspection(x, server);
  type("Guten");
  for (let press = 0; press < 2; press++) {
    look();
    await rest();
  }
  expect(inspect).toHaveBeenCalledTimes(1);
  answers[0]!(FACTS);
  look();
  await rest();
  expect(inspect).toHaveBeenCalledTimes(1);
});

it("takes the former text's counts away where the answer is late or never comes", async () => {
  const look = makeInspection(x, server);
  type("Guten");
  look();
  await rest();
  await vi.advanceTimersByTimeAsync(300);
  expect(told()).toMatchObject([{ uncounted: true }]);
  fails[0]!(new Error("lost"));
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toMatchObject([{ uncounted: true }, { uncounted: true }]);
});

it("says nothing of a text that is not in the field any more", async () => {
  const look = makeInspection(x, server);
  type("Guten");
  look();
  await rest();
  type("Gute");
  answers[0]!(FACTS);
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toEqual([]);
});

it("an empty field has nothing to ask", async () => {
  type(" ");
  makeInspection(x, server)();
  await rest();
  expect(inspect).not.toHaveBeenCalled();
  expect(told()).toMatchObject([{ empty: true }]);
});

it("of what is shown it shows what came along, with or without a server", async () => {
  type(trace.source);
  makeInspection(x, null)();
  await rest();
  expect(health.show).toHaveBeenCalledWith(trace);
  expect(told()).toEqual([]);
});
