import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { opensWith } from "./site";

describe("the direction that a live page opens with", () => {
  beforeEach(() => {
    window.__explorerData = {
      ...{ examples: [], address: "", settings: [] },
      directions: ["de-en", "en-zh"],
    };
  });
  afterEach(() => {
    vi.restoreAllMocks();
    delete window.__explorerData;
    history.replaceState(null, "", "/");
  });
  const speaks = (language: string) =>
    vi.spyOn(navigator, "language", "get").mockReturnValue(language);

  it.each([
    ["de-CH", "de-en"],
    ["zh-TW", "en-zh"],
    ["en-GB", "de-en"],
    ["fr", "de-en"],
  ])("is, for a browser in %s, %s", (language, direction) => {
    speaks(language);
    expect(opensWith()).toBe(direction);
  });

  it("is what its address says before what the browser speaks, if the site has it", () => {
    speaks("zh");
    history.replaceState(null, "", "/?direction=de-en");
    expect(opensWith()).toBe("de-en");
    history.replaceState(null, "", "/?direction=xx-yy");
    expect(opensWith()).toBe("de-en");
  });
});
