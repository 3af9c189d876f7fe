import { beforeEach, describe, expect, it } from "vitest";
import { remember } from "../dom/storage";
import { languagesOf, tagOf } from "./language";
import { languageName, namedLanguages, plainWord } from "./language-names";

const named = (...codes: string[]) =>
  Object.fromEntries(namedLanguages(codes).map(({ code, name }) => [code, name]));

describe("languages of a checkpoint", () => {
  beforeEach(() => remember("language", "en"));

  it("have a tag for HTML, whatever their checkpoint calls them", () => {
    const tags = ["de", "zh", "deu_Latn", "zho_Hant", "de_DE", "en_XX"].map(tagOf);
    expect(tags).toEqual(["de", "zh-Hans", "de-Latn", "zh-Hant", "de-DE", "en"]);
    expect(tagOf("no such")).toBe("");
    expect(languagesOf("nllb:deu_Latn-zho_Hans")).toEqual(["de-Latn", "zh-Hans"]);
    expect(languagesOf("opus-mt-de-en")).toEqual(["de", "en"]);
  });

  it("are called as the page speaks, and by their code where nobody knows them", () => {
    expect(named("de_DE", "zh_CN", "x9x9x9x9x9")).toEqual({
      de_DE: "German",
      zh_CN: "Chinese",
      x9x9x9x9x9: "x9x9x9x9x9",
    });
    remember("language", "de");
    expect(languageName("deu_Latn")).toBe("Deutsch");
    remember("language", "zh");
    expect(languageName("deu_Latn")).toBe("德语");
  });

  it("say their script only where two are one language otherwise", () => {
    const names = named("zho_Hans", "zho_Hant", "deu_Latn");
    expect(names.deu_Latn).toBe("German");
    expect(new Set(Object.values(names)).size).toBe(3);
    expect(names.zho_Hans).toContain("Simplified");
  });

  it("are found by their own name, the English one and the code, without accents", () => {
    remember("language", "zh");
    const [french] = namedLanguages(["fra_Latn"]);
    for (const typed of ["fran", "Français", "French", "fra_l", "法"])
      expect(french.keys).toContain(plainWord(typed));
  });
});
