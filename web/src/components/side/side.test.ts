import { afterEach, describe, expect, it, vi } from "vitest";
import { takeQuestion } from "../../state/ask";
import { TestContext } from "../../test/context";
import { RESUME, makeSide } from "./side";

describe("what stands beside the map", () => {
  afterEach(() => void takeQuestion());
  /**
   * The example, as if it had been decoded without a beam, or with these hypotheses at its second
   * step.
   */
  const shown = ({ lab = false, hypotheses = false } = {}) => {
    const x = new TestContext();
    for (const step of x.trace.steps) delete step.b;
    if (lab) document.body.insertAdjacentHTML("beforeend", '<div id="tabs"></div>');
    if (hypotheses)
      x.trace.steps[1].b = [
        { s: "the books", lp: -1, n: -0.5, p: 0, w: 1 },
        { s: "books", lp: -2, n: -1.25, p: 1, e: 1 },
      ];
    x.shows(makeSide);
    return x;
  };
  const rows = (x: TestContext, selector: string) => [
    ...x.root.querySelectorAll<HTMLElement>(selector),
  ];

  it("weighs up the likeliest tokens of the present step, with what is left last", () => {
    const x = shown();
    expect(x.find(".at-step").textContent).toBe("at step 2");
    const listed = rows(x, ".cand li");
    const likeliest = x.trace.steps[1].c.slice(0, 6);
    expect(listed).toHaveLength(likeliest.length + 1);
    const numbers = listed.map((row) => Number(row.querySelector(".p")!.textContent));
    likeliest.forEach(({ lp }, n) => expect(numbers[n]).toBeCloseTo(Math.exp(lp), 2));
    const left = 1 - likeliest.reduce((sum, { lp }) => sum + Math.exp(lp), 0);
    expect(numbers.at(-1)).toBeCloseTo(left, 2);
    expect(x.find(".cand .pickd .t").textContent).toBe(x.trace.tgt[1].s);
    x.set({ step: 2 });
    expect(x.find(".cand .pickd .t").textContent).toBe(x.trace.tgt[2].s);
  });

  it("says why what was written is not the likeliest, unless it was drawn", () => {
    const x = shown();
    const title = () => x.find(".cand .pickd .t").title;
    const said = "A likelier token was passed over";
    expect(title()).not.toContain(said);
    x.trace.steps[1].c.shift(); // the one that was written was the likeliest
    x.set({ step: 0 });
    x.set({ step: 1 });
    expect(title()).toContain(said);
    x.trace.settings.method = "sample";
    x.set({ step: 0 });
    x.set({ step: 1 });
    expect(title()).not.toContain(said);
    Object.assign(x.trace, { live: true, settings: undefined }); // as while it is written
    x.set({ step: 0 });
    x.set({ step: 1 });
    expect(title()).not.toContain(said);
  });

  it("keeps its lines from step to step, and says in them what holds at each", () => {
    const x = shown({ lab: true });
    const before = rows(x, ".cand li");
    for (const step of [2, 0, 1]) {
      x.set({ step });
      const listed = rows(x, ".cand li");
      expect(listed.every((row, n) => row === before[n])).toBe(true);
      const { c } = x.trace.steps[step];
      const chosen = x.trace.tgt[step];
      listed.slice(0, -1).forEach((row, n) => {
        const taken = c[n].i === chosen.i;
        expect(row.querySelector(".t")!.textContent).toBe(c[n].s);
        expect([row.className, row.querySelector(".t")!.tagName]).toEqual(
          taken ? ["pickd", "SPAN"] : ["", "BUTTON"],
        );
        expect(row.querySelectorAll(".ask")).toHaveLength(1);
      });
      expect(listed.at(-1)!.className).toBe("rest");
      expect(listed.at(-1)!.querySelector(".ask, button")).toBeNull();
    }
  });

  it("lists the strongest links of the present row", () => {
    const x = shown();
    const values = [...x.picture().z[1]].sort((a, b) => b - a).slice(0, 5);
    const told = rows(x, ".links tr").map((row) => Number(row.lastElementChild!.textContent));
    expect(told).toHaveLength(values.length);
    values.forEach((value, n) => expect(told[n]).toBeCloseTo(value, 2));
    x.set({ kind: "encoder", query: 2 });
    expect(x.find(".links-note").textContent).toBe(`of ${x.trace.src[2].s}`);
  });

  it("shows the hypotheses of a beam search, and nothing of them where there was none", () => {
    expect(shown().find(".beams").hidden).toBe(true);
    const x = shown({ hypotheses: true });
    expect(x.find(".beams").hidden).toBe(false);
    const [first, second] = rows(x, ".beam-list li");
    expect([first.className, second.className]).toEqual(["pickd", ""]);
    expect(first.querySelector(".t")!.textContent).toBe("the books");
    expect(second.querySelector(".p")!.textContent).toBe("■ −1.25");
  });

  it("has no questions where the page has no lab", () => {
    const x = shown();
    expect(rows(x, ".ask:not(.went)")).toEqual([]);
    expect(rows(x, ".cand button")).toEqual([]);
  });

  it("asks the lab why a word was said, why another was not, and why a head looks there", () => {
    const x = shown({ lab: true });
    x.find(".cand .pickd .ask").click();
    expect(takeQuestion()).toMatchObject({
      view: "contrast",
      text: x.trace.source,
      options: { step: 2, word: null, against: null },
    });
    const other = rows(x, ".cand li:not(.pickd, .rest)")[0];
    const { s } = x.trace.steps[1].c.find(({ i }) => i !== x.trace.tgt[1].i)!;
    other.querySelector<HTMLElement>(".ask")!.click();
    expect(takeQuestion()!.options).toMatchObject({ step: 2, against: s });
    const { z } = x.picture();
    rows(x, ".links .ask")[0].click();
    expect(takeQuestion()!).toMatchObject({
      view: "why",
      options: {
        kind: "cross",
        layer: x.state.layer + 1,
        head: x.state.head + 1,
        query: 2,
        key: z[1].indexOf(Math.max(...z[1])) + 1,
      },
    });
  });

  it("asks to translate on from a candidate that was not taken", () => {
    const x = shown({ lab: true });
    x.set({ step: 2 });
    const asked = vi.fn();
    document.body.addEventListener(RESUME, (event) => asked((event as CustomEvent).detail), {
      once: true,
    });
    const { i, s } = x.trace.steps[2].c.find((each) => each.i !== x.trace.tgt[2].i)!;
    x.find(".cand li:not(.pickd) button.t").click();
    const prefix = [x.trace.tgt[0].i, x.trace.tgt[1].i, i];
    expect(asked).toHaveBeenCalledExactlyOnceWith({ prefix, word: s });
  });
});
