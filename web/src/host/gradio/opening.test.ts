import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { opensWith } from "./opening";

const [german, old, english] = [
  { id: "de-den", direction: "de-en", text: "In den Häusern" },
  { id: "de-old", direction: "de-en", text: "Das alte Haus" },
  { id: "en-father", direction: "en-zh", text: "My father" },
];

describe("the example that a page opens with", () => {
  beforeEach(() => {
    window.__explorerData = {
      examples: [english, german, old],
      address: "",
      settings: [],
      directions: ["en-zh", "de-en"],
    };
    vi.spyOn(navigator, "language", "get").mockReturnValue("fr");
  });
  afterEach(() => {
    vi.restoreAllMocks();
    delete window.__explorerData;
    history.replaceState(null, "", "/");
  });

  it.each([
    ["by itself is the first of the first direction", "/", english],
    ["is of the direction that the address asks for", "/?direction=de-en", german],
    ["is of the first direction where another is not there", "/?direction=xx-yy", english],
    ["is the one that is linked to", "/#t=Das+alte+Haus&d=de-en", old],
    ["is none where a sentence of somebody's own is linked to", "/#t=I+run", undefined],
    ["is of the text that the address asks for", "/?direction=de-en&text=Das+alte+Haus", old],
    ["is none where that text is somebody's own", "/?direction=de-en&text=I+run", undefined],
    ["is what the fragment says where both do", "/?text=I+run#t=Das+alte+Haus&d=de-en", old],
    ["is none where it was decoded otherwise", "/#t=Das+alte+Haus&d=de-en&m=greedy", undefined],
  ])("%s", (_, address, example) => {
    history.replaceState(null, "", address);
    expect(opensWith()).toEqual(example);
  });

  it("is of the browser's language", () => {
    vi.spyOn(navigator, "language", "get").mockReturnValue("de");
    expect(opensWith()).toEqual(german);
  });
});
