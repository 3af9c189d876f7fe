import { beforeEach, describe, expect, it, vi } from "vitest";
import { TestContext } from "../../test/context";
import { type Facts, type HealthStrip, SWITCH, makeHealth } from "./health";

const FACTS: Facts = {
  words: 2,
  tokens: 3,
  limit: 100,
  unknown: 0,
  changed: 0,
  normalised: "",
  problem: "",
  split: [[{ s: "guten" }], [{ s: "Mor" }, { s: "gen", u: 1 }]],
};

describe("input health", () => {
  let x: TestContext;
  let strip: HealthStrip;
  const sayOnce = vi.fn();
  beforeEach(() => {
    x = new TestContext();
    strip = makeHealth(Object.assign(x, { sayOnce }));
    sayOnce.mockClear();
  });
  const items = () => [...x.find("#input-health").children].map((item) => item.textContent);
  const alarms = () => [...x.root.querySelectorAll(".health .bad")].map((each) => each.textContent);

  it("counts words and subwords, and finds a short text of known words in order", () => {
    strip.facts(FACTS);
    expect(items()[0]).toContain("2 words → 3 subwords of 100");
    expect(items()).toContain("within the limit");
    expect(items()).toContain("0 unknown");
    expect(items()).toContain("not translated yet");
    expect(alarms()).toEqual([]);
    expect(sayOnce).toHaveBeenCalledTimes(1);
  });

  it.each([
    [{ tokens: 90 }, "near the limit"],
    [{ unknown: 2 }, "2 unknown"],
    [{ bytes: 4 }, "4 subwords are raw bytes"],
    [{ problem: "too long" }, "too long"],
    [{ language: "zh" }, "This looks like Chinese"],
    [{ truncated: true, produced: 7 }, "stopped at 7 tokens"],
    [{ error: "no model" }, "no model"],
  ])("warns of %o", (facts, said) => {
    strip.facts({ ...FACTS, ...facts });
    expect(alarms()).toHaveLength(1);
    expect(alarms()[0]).toContain(said);
  });

  it.each([
    ["empty", "nothing typed yet"],
    ["uncounted", "not counted yet"],
  ])("has no numbers for a text that is %s", (why, said) => {
    strip.facts({ ...FACTS, [why]: true });
    expect(items()).toEqual([said]);
  });

  it("unfolds every word in pieces, and folds again", () => {
    strip.facts(FACTS, "de");
    const sheet = x.find("#split");
    x.find(".counts").click();
    expect(sheet.hidden).toBe(false);
    const words = [...sheet.querySelectorAll(".word")];
    expect(words.map((word) => [...word.children].map((piece) => piece.textContent))).toEqual([
      ["guten"],
      ["Mor", "gen"],
    ]);
    expect([...sheet.querySelectorAll(".unknown")].map((each) => each.textContent)).toEqual([
      "gen",
    ]);
    expect(x.find(".counts").getAttribute("aria-expanded")).toBe("true");
    x.find(".counts").click();
    expect(sheet.hidden).toBe(true);
    x.find(".counts").click();
    strip.facts({ ...FACTS, empty: true });
    expect(sheet.hidden).toBe(true);
  });

  it("asks for the direction that a text in another language needs", () => {
    const asked = vi.fn();
    document.body.addEventListener(SWITCH, (event) => asked((event as CustomEvent).detail));
    strip.facts({ ...FACTS, language: "en", switch: "en-de" });
    x.find(".switch").click();
    expect(asked).toHaveBeenCalledExactlyOnceWith("en-de");
  });

  it("knows which problem it tells already", () => {
    strip.facts({ ...FACTS, problem: "too long" });
    expect([strip.says("too long"), strip.says("another"), strip.says("")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("tells of a translation how much of cross-attention special tokens get", () => {
    strip.show(x.trace);
    const { tokens, words } = x.trace.health!;
    expect(items()[0]).toContain(`${words} words → ${tokens} subwords`);
    expect(items().join()).toMatch(/\d+ ?% of cross-attention goes to special tokens/);
  });

  it("keeps what is shown of another text when more is known of a translation", () => {
    strip.show(x.trace);
    strip.facts({ ...FACTS, unknown: 2 });
    strip.marked(x.trace);
    expect(items()).toContain("!2 unknown");
  });

  it("offers to ask about marked words where the page has a lab", () => {
    const ask = vi.fn();
    const word = { s: "vielleicht", score: 1, ids: [1] };
    strip.facts({ ...FACTS, doubts: { src: [word], tgt: [], rates: null }, ask });
    const [button] = x.root.querySelectorAll<HTMLElement>(".doubts");
    expect(button.textContent).toBe("left out? vielleicht");
    button.click();
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
