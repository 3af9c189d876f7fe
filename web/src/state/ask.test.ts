import { beforeEach, expect, it, vi } from "vitest";
import { example } from "../test/example";
import { askAbout, askLab, askWhyHere, hasLab, labAnswers, takeQuestion } from "./ask";

const opened = vi.fn();
const asked = vi.fn();
addEventListener("lab-ask", asked);
beforeEach(() => {
  takeQuestion();
  opened.mockReset();
  asked.mockReset();
  document.body.innerHTML = '<div id="tabs"><button data-tab-id="lab-tab">Lab</button></div>';
  document.querySelector("button")!.addEventListener("click", opened);
});

const QUESTION = { view: "why", options: {}, text: "a", target: null, direction: null };

it("a question opens the lab, and is taken once, however late", () => {
  askLab(QUESTION);
  expect([opened.mock.calls.length, asked.mock.calls.length]).toEqual([1, 1]);
  expect(takeQuestion()).toBe(QUESTION);
  expect(takeQuestion()).toBeNull();
});

it("the last question is the one that is taken", () => {
  askLab(QUESTION);
  askLab({ ...QUESTION, text: "b" });
  expect(takeQuestion()!.text).toBe("b");
});

it("a translation is asked about by the ids that it has", () => {
  const trace = example();
  askAbout(trace, "contrast", { step: 2 });
  const { tgt, source } = trace;
  const target = tgt.map(({ i }) => i);
  expect(takeQuestion()).toEqual({
    ...{ view: "contrast", options: { step: 2 } },
    ...{ text: source, target, direction: null },
  });
});

it("places are counted from 1 in the lab", () => {
  askWhyHere(example(), { kind: "cross", layer: 0, head: 7 }, [3, 0]);
  expect(takeQuestion()).toMatchObject({
    view: "why",
    options: { kind: "cross", layer: 1, head: 8, query: 4, key: 1 },
  });
});

it("there is a lab where there are tabs", () => {
  expect([hasLab(), labAnswers("why")]).toEqual([true, true]);
  document.body.replaceChildren();
  expect([hasLab(), labAnswers("why")]).toEqual([false, false]);
});

it("a page whose lab answers some views alone says so of the others", async () => {
  vi.resetModules(); // what was said holds for good
  const own = await import("./ask");
  own.answersOnly(["force", "edit"]);
  expect(["force", "edit", "why"].map(own.labAnswers)).toEqual([true, true, false]);
  vi.resetModules();
});
