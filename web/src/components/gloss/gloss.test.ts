import { beforeEach, describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makeGloss } from "./gloss";

describe("the words of a Chinese translation", () => {
  beforeEach(() => localStorage.clear());
  const shown = (id?: string) => {
    const x = new TestContext(id);
    x.shows(makeGloss);
    return { x, toggle: x.find<HTMLButtonElement>(".gloss-toggle"), list: x.find("#gloss") };
  };
  const texts = (list: Element, name: string) =>
    [...list.querySelectorAll(name)].map((node) => node.textContent);

  it("are offered where the translation is Chinese", () => {
    expect(shown("de-en-in-den").toggle.hidden).toBe(true);
    expect(shown("en-zh-father").toggle.hidden).toBe(false);
  });

  it("unfold with their pinyin and meaning, and fold again", () => {
    const { x, toggle, list } = shown("en-zh-father");
    expect([list.hidden, list.childElementCount]).toEqual([true, 0]);
    toggle.click();
    expect(list.hidden).toBe(false);
    expect(toggle.getAttribute("aria-expanded")).toBe("true");
    expect(x.find(".gloss-name").hidden).toBe(false);
    const at = texts(list, ".said").indexOf("医院");
    expect(texts(list, ".pinyin")[at]).toBe("yīyuàn");
    expect(list.children[at].lastElementChild!.textContent).toBe("hospital");
    toggle.click();
    expect([list.hidden, list.childElementCount]).toEqual([true, 0]);
    expect(toggle.getAttribute("aria-expanded")).toBe("false");
  });

  it("mark the one of the present step", () => {
    const { x, toggle, list } = shown("en-zh-father");
    toggle.click();
    const step = x.trace.gloss!.find(({ s }) => s.trim() === "医院")!.t;
    x.set({ step });
    expect(texts(list, ".now .said")).toEqual(["医院"]);
  });

  it("are unfolded again at the next visit", () => {
    shown("en-zh-father").toggle.click();
    expect(shown("en-zh-father").list.hidden).toBe(false);
    shown("en-zh-father").toggle.click();
    expect(shown("en-zh-father").list.hidden).toBe(true);
  });
});
