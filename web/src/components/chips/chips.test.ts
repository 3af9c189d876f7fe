import { describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makeChips } from "./chips";

describe("the chips", () => {
  it("are one for each token of both sentences", () => {
    const x = new TestContext();
    x.shows(makeChips);
    expect(x.find(".chips.src").children).toHaveLength(x.trace.src.length);
    expect(x.find(".chips.tgt").children).toHaveLength(x.trace.tgt.length);
  });

  it("mark the present step, and the query where the encoder is shown", () => {
    const x = new TestContext();
    x.shows(makeChips);
    const current = () =>
      [...x.root.querySelectorAll('.chip[aria-current="step"]')].map((chip) => [
        chip.parentElement!.classList.contains("src") ? "src" : "tgt",
        [...chip.parentElement!.children].indexOf(chip),
      ]);
    x.set({ step: 2 });
    expect(current()).toEqual([["tgt", 2]]);
    x.set({ kind: "encoder", query: 3 });
    expect(current()).toEqual([["src", 3]]);
  });

  it("that are clicked choose their step", () => {
    const x = new TestContext();
    x.shows(makeChips);
    (x.find(".chips.tgt").children[3] as HTMLElement).click();
    expect(x.state.step).toBe(3);
  });

  it("are scrolled to the present one once all else of the frame is written", () => {
    const x = new TestContext();
    const chips = x.shows(makeChips);
    const box = x.find(".chips.tgt");
    const present = box.querySelector('[aria-current="step"]')!;
    const sizes = [
      [box, { scrollHeight: 300, clientHeight: 100 }],
      [present, { offsetTop: 250, offsetHeight: 20 }],
    ] as const;
    for (const [node, values] of sizes)
      for (const [name, value] of Object.entries(values))
        Object.defineProperty(node, name, { value });
    expect(box.scrollTop).toBe(0);
    chips.following.paint(new Set(["trace"]));
    expect(box.scrollTop).toBe(246);
  });
});
