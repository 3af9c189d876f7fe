import { beforeEach, describe, expect, it, vi } from "vitest";
import { remember } from "../../dom/storage";
import type { LanguagePair } from "../../state/direction";
import { type LanguagesProps, languagePickers } from "./languages";

const ALL = ["eng_Latn", "deu_Latn", "zho_Hans", "fra_Latn"];

const shown = (more: Partial<LanguagesProps> = {}) => {
  const onChoose = vi.fn<(pair: LanguagePair) => void>();
  const { node } = languagePickers({
    languages: { src: ALL, tgt: ALL, own: ["eng_Latn", "deu_Latn"] },
    chosen: { src: "eng_Latn", tgt: "deu_Latn" },
    onChoose,
    ...more,
  });
  document.body.replaceChildren(node);
  const [src, tgt] = node.querySelectorAll("input");
  return { onChoose, src, tgt, swap: node.querySelector("button")! };
};
const listOf = (field: HTMLInputElement) =>
  document.getElementById(field.getAttribute("aria-controls")!)!;
const namesIn = (field: HTMLInputElement) =>
  [...listOf(field).querySelectorAll("[role=option] span")].map((node) => node.textContent);
const type = (field: HTMLInputElement, text: string) => {
  field.value = text;
  field.dispatchEvent(new Event("input"));
};
const press = (field: HTMLInputElement, key: string) =>
  field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

describe("language pickers", () => {
  beforeEach(() => remember("language", "en"));

  it("say what is chosen, and what each is for", () => {
    const { src, tgt, swap } = shown();
    expect([src.value, tgt.value]).toEqual(["English", "German"]);
    expect([src, tgt].map((each) => each.getAttribute("aria-label"))).toEqual([
      "Source language",
      "Target language",
    ]);
    expect(swap.getAttribute("aria-label")).toBe("Swap languages");
  });

  it("open on all languages by name, the chosen one marked", () => {
    const { src } = shown();
    src.click();
    expect(namesIn(src)).toEqual(["Chinese", "English", "French", "German"]);
    expect(src.getAttribute("aria-expanded")).toBe("true");
    const at = document.getElementById(src.getAttribute("aria-activedescendant")!)!;
    expect(at.textContent).toContain("English");
    expect(at.getAttribute("aria-selected")).toBe("true");
  });

  it("are searched by typing, and chosen by keys", () => {
    const { onChoose, tgt } = shown();
    type(tgt, "Franç");
    expect(namesIn(tgt)).toEqual(["French"]);
    press(tgt, "Enter");
    expect(onChoose).toHaveBeenCalledExactlyOnceWith({ src: "eng_Latn", tgt: "fra_Latn" });
    expect(listOf(tgt).hidden).toBe(true);
    press(tgt, "ArrowDown");
    press(tgt, "ArrowDown");
    press(tgt, "Enter");
    expect(onChoose).toHaveBeenLastCalledWith({ src: "eng_Latn", tgt: "zho_Hans" });
    press(tgt, "ArrowDown");
    press(tgt, "ArrowUp");
    press(tgt, "Enter");
    expect(onChoose).toHaveBeenLastCalledWith({ src: "eng_Latn", tgt: "fra_Latn" });
  });

  it("tell nothing where what is chosen is chosen again", () => {
    const { onChoose, src } = shown();
    type(src, "English");
    press(src, "Enter");
    expect(src.value).toBe("English");
    expect(onChoose).not.toHaveBeenCalled();
  });

  it("keep what was chosen where nothing fits, or Escape is pressed", () => {
    const { onChoose, src } = shown();
    type(src, "Klingon");
    expect(listOf(src).textContent).toBe("No language has this name.");
    press(src, "Enter");
    expect(src.value).toBe("English");
    type(src, "German");
    press(src, "Escape");
    expect(src.value).toBe("English");
    expect(onChoose).not.toHaveBeenCalled();
  });

  it("swap both, where the checkpoint can translate back", () => {
    const { onChoose, swap } = shown();
    swap.click();
    expect(onChoose).toHaveBeenCalledExactlyOnceWith({ src: "deu_Latn", tgt: "eng_Latn" });
    const one = shown({
      languages: { src: ALL, tgt: ["deu_Latn"], own: ["eng_Latn", "deu_Latn"] },
    });
    expect(one.swap.disabled).toBe(true);
    expect(one.tgt.disabled).toBe(true);
  });
});
