import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Explorer } from "../../tabs/explorer/explorer";
import type { Examples } from "./examples";
import { opensWith, readOpening } from "./opening";

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

describe("what is typed before Gradio has filled the field", () => {
  const type = (value: string) => {
    const node = document.querySelector("textarea")!;
    node.value = value;
    const event = new Event("input", { bubbles: true });
    Object.defineProperty(event, "isTrusted", { value: true });
    node.dispatchEvent(event);
  };
  const open = (address: string) => {
    history.replaceState(null, "", address);
    document.body.innerHTML = '<div id="source-text"><textarea></textarea></div>';
    const opening = readOpening({} as Explorer, { meant: () => "de-den" } as unknown as Examples);
    const fill = () => {
      const [text] = opening.fields(["", "de-en"]);
      document.querySelector("textarea")!.value = text;
    };
    return { opening, fill, value: () => document.querySelector("textarea")!.value };
  };
  beforeEach(() => {
    const data = { examples: [german], address: "", settings: [], directions: ["de-en"] };
    window.__explorerData = data;
  });
  afterEach(() => {
    delete window.__explorerData;
    document.body.innerHTML = "";
    history.replaceState(null, "", "/");
  });

  it("is put back", () => {
    const { opening, fill, value } = open("/");
    type("Ich war schneller.");
    fill();
    expect(opening.isPending()).toBe(false);
    expect([opening.retype(), value()]).toEqual([true, "Ich war schneller."]);
  });

  it("stands in place of what was linked to, which is not translated then", () => {
    const { opening, fill, value } = open("/#t=Guten+Tag&d=de-en");
    type("Ich war schneller.");
    fill();
    expect([opening.isPending(), opening.retype()]).toEqual([false, true]);
    expect(value()).toBe("Ich war schneller.");
  });

  it("is nothing where somebody waited, and what is typed later stays as it is", () => {
    const { opening, fill, value } = open("/");
    fill();
    expect([opening.isPending(), opening.retype()]).toEqual([false, false]);
    type("Später.");
    expect([opening.retype(), value()]).toEqual([false, "Später."]);
  });
});
