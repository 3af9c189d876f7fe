import { beforeEach, describe, expect, it } from "vitest";
import de from "../../../../assets/locales/de.json";
import zh from "../../../../assets/locales/zh.json";
import { remember } from "../../dom/storage";
import { mountChrome } from "./chrome";

const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

describe("the page's words", () => {
  beforeEach(async () => {
    remember("language", "de");
    window.__explorerLocales = { de, zh };
    document.body.innerHTML = `<div id="chrome"></div><div class="ax"></div><div id="other"></div>`;
    mountChrome(document.querySelector("#chrome")!);
    await frame();
  });

  it("are spoken where something is drawn later, unless it speaks by itself", async () => {
    for (const where of [".ax", "#other"])
      document.querySelector(where)!.innerHTML = "<span>Translate</span>";
    await frame();
    const said = (where: string) => document.querySelector(where)!.textContent;
    expect([said(".ax"), said("#other")]).toEqual(["Translate", de.Translate]);
  });

  it("set no attribute anew that is as it was: all styles would be computed again", async () => {
    const changes: MutationRecord[] = [];
    const watch = new MutationObserver((records) => changes.push(...records));
    watch.observe(document.documentElement, { attributes: true, subtree: true });
    document.querySelector("#other")!.innerHTML = "<span>Translate</span>";
    await frame();
    await frame();
    watch.disconnect();
    expect(document.documentElement.lang).toBe("de");
    expect(changes.map(({ attributeName }) => attributeName)).toEqual([]);
  });
});
