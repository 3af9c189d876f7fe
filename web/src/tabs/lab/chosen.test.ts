import { expect, it } from "vitest";
import { Chosen } from "./chosen";
import type { Options } from "./form";

/** A form of the patching board whose step and words the server chose. */
const filled = () => {
  const chosen = new Chosen();
  const options: Options = { other: "b", step: null, word: null, against: "mine" };
  expect(chosen.fill("patch", { step: 3, word: "to", against: "in" }, options)).toBe(true);
  return { chosen, options };
};

it("fills what was left open, and nothing else", () => {
  const { chosen, options } = filled();
  expect(options).toEqual({ other: "b", step: 3, word: "to", against: "mine" });
  expect(chosen.fill("patch", { step: 4 }, options)).toBe(false);
  expect(options.step).toBe(3);
});

it("leaves the words to the server again where another step is asked, and the step too with another sentence", () => {
  const { chosen, options } = filled();
  options.step = 5;
  chosen.openBy("step", "patch", options);
  expect(options).toEqual({ other: "b", step: 5, word: null, against: "mine" });
  const again = filled();
  again.chosen.openBy("other", "patch", again.options);
  expect(again.options).toEqual({ other: "b", step: null, word: null, against: "mine" });
});

it("keeps what a person typed since, and what does not depend on the field", () => {
  const { chosen, options } = filled();
  options.word = "into";
  chosen.openBy("what", "patch", options);
  expect(options.step).toBe(3);
  chosen.open({ patch: options });
  expect(options).toEqual({ other: "b", step: null, word: "into", against: "mine" });
});

it("opens nothing of a view whose values somebody said", () => {
  const { chosen, options } = filled();
  chosen.forget("patch");
  chosen.open({ patch: options });
  expect(options.step).toBe(3);
});
