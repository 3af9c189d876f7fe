import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LabAnswer } from "../../protocol/lab";
import type { LabQuestion } from "../../state/ask";
import { readLabLink } from "../../state/lab-link";
import html from "./lab.html";
import { makeTake } from "./take";

const question: LabQuestion = {
  ...{ view: "force", text: "Hallo.", target: [5, 2], direction: "de-en/own" },
  options: { target: "Hi." },
};
const TABLE = { head: ["token", "log p"], rows: [["Hi", "−1.00"]] };
const FIGURE = JSON.stringify({ light: { data: [], layout: {} }, dark: [] });
let root: HTMLElement;
let saved: { name: string; blob: Blob }[];
const find = <E extends Element = HTMLElement>(selector: string) =>
  root.querySelector<E>(selector)!;
beforeEach(() => {
  vi.useFakeTimers();
  root = document.createElement("div");
  root.innerHTML = html;
  document.body.replaceChildren(root);
  saved = [];
  const blobs: Blob[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    return `blob:${blobs.push(blob as Blob) - 1}`;
  });
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push({ name: this.download, blob: blobs[Number(this.href.split(":")[1])] });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  delete window.Plotly;
});
const shown = (answer?: LabAnswer) => {
  makeTake(find, () => ({ question, answer })).paint();
  return [...find(".lab-take").querySelectorAll<HTMLElement>("button")];
};
const take = async (answer: LabAnswer, what: string) => {
  shown(answer)
    .find((button) => button.dataset.take === what)!
    .click();
  await vi.advanceTimersByTimeAsync(0);
};
const said = () => find('.lab-take [role="status"]').textContent;

describe("what can be taken of an answer", () => {
  const offered = (answer?: LabAnswer) => {
    const buttons = shown(answer).map((button) => button.dataset.take);
    return find(".lab-take").hidden ? null : buttons;
  };

  it("is what it has", () => {
    expect(offered({ figures: [FIGURE] })).toEqual(["png", "svg", "csv", "json", "link"]);
    expect(offered({ table: TABLE })).toEqual(["csv", "json", "link"]);
    expect(offered({ ribbons: {} as never })).toEqual(["png", "svg", "json", "link"]);
    expect(offered({ lines: [["One", {}]] })).toEqual(["json", "link"]);
  });

  it("is nothing of a refusal, or where nothing was answered", () => {
    expect(offered({ error: "busy" })).toBeNull();
    expect(offered()).toBeNull();
  });
});

describe("what is taken", () => {
  it("is a file of its numbers, named after view and direction", async () => {
    await take({ table: TABLE }, "csv");
    expect(saved[0].name).toBe("lab-force-de-en-own.csv");
    expect(saved[0].blob.type).toBe("text/csv");
    for (const cell of ["token", "Hi"]) expect(await saved[0].blob.text()).toContain(cell);
    await take({ table: TABLE }, "json");
    expect(saved[1].name).toBe("lab-force-de-en-own.json");
    expect(JSON.stringify(JSON.parse(await saved[1].blob.text()))).toContain("Hallo.");
    expect(said()).toBe("Saved");
    vi.advanceTimersByTime(4000);
    expect(said()).toBe("");
  });

  it("is a link that asks the same question", async () => {
    const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    await take({ table: TABLE }, "link");
    expect(readLabLink(new URL(writeText.mock.lastCall![0]).hash)).toEqual(question);
    expect(said()).toBe("Link copied");
  });

  it("is every picture, numbered where there are several", async () => {
    const downloadImage = vi.fn(async () => "");
    window.Plotly = { downloadImage } as never;
    const names = () => downloadImage.mock.calls.map((call) => (call as unknown[])[1]);
    const plots = (count: number) =>
      find(".lab-figures").replaceChildren(
        ...Array.from({ length: count }, () => {
          const plot = document.createElement("div");
          plot.className = "plot";
          return plot;
        }),
      );
    plots(1);
    await take({ figures: [FIGURE] }, "png");
    plots(2);
    await take({ figures: [FIGURE, FIGURE] }, "svg");
    expect(names()).toEqual([
      expect.objectContaining({ filename: "lab-force-de-en-own", format: "png" }),
      expect.objectContaining({ filename: "lab-force-de-en-own-1", format: "svg" }),
      expect.objectContaining({ filename: "lab-force-de-en-own-2", format: "svg" }),
    ]);
  });

  it("is the ribbons as they are", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"></path></svg>';
    find(".lab-figures").innerHTML = `<div class="lab-ribbons">${svg}</div>`;
    await take({ ribbons: {} as never }, "svg");
    expect(saved.map(({ name }) => name)).toEqual(["lab-force-de-en-own.svg"]);
    expect(await saved[0].blob.text()).toContain('d="M0 0"');
  });
});
