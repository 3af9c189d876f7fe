import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blankCanvases } from "../../test/context";
import { example, payload } from "../../test/example";
import { inParts, packedMaps } from "../../test/parts";
import { CELL, sketchPlotly } from "../../test/plotly";
import { mostDifferentHead } from "../../trace/distance";
import type { TracePayload } from "../../protocol/messages";
import { Comparison } from "./comparison";
import type { ComparisonOptions } from "./options";

const A = "de-en-in-den";
const B = "de-en-in-dem";
const OTHER = "de-en-mother"; // of another length

let drawn: ReturnType<typeof sketchPlotly>;
const living: Comparison[] = [];

beforeEach(() => {
  blankCanvases();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
  document.body.replaceChildren();
  drawn = sketchPlotly();
});
afterEach(() => {
  for (const made of living.splice(0)) made.destroy();
  vi.restoreAllMocks();
  delete window.Plotly;
});

/** A comparison of stored examples. */
const compared = (a = A, b = B, options?: ComparisonOptions) => {
  const element = document.body.appendChild(document.createElement("div"));
  const made = new Comparison(element, options);
  living.push(made);
  made.show(payload(a), payload(b));
  const all = (selector: string) => [...element.querySelectorAll<HTMLElement>(selector)];
  /** The weights of a map as they were drawn. */
  const map = (selector: string) => drawn.get(made.find(selector).firstElementChild!)!.data[0];
  return { made, element, all, map, find: made.find.bind(made) };
};

describe("two translations side by side", () => {
  it("are called A and B, with the words marked that one of them lacks", () => {
    const { find, all } = compared();
    const [a, b] = [example(A), example(B)];
    const said = all(".said").map((node) => node.textContent);
    expect(said[0]).toBe("A: " + a.translation);
    expect(said[1]).toBe("B: " + b.translation);
    const marked = (side: string) =>
      all(`[data-side=${side}] mark`).map((node) => node.textContent);
    expect([...marked("a"), ...marked("b")].length).toBeGreaterThan(0);
    expect(b.translation.split(/\W+/)).not.toEqual(expect.arrayContaining(marked("a")));
    expect(find("[data-side=a] .facts").textContent).toContain(`${a.tgt.length} tokens`);
  });

  it("differ by B less A, in every cell", () => {
    const { map, find } = compared();
    const difference = map(".map.difference");
    const [a, b] = ["a", "b"].map((side) => map(`[data-side=${side}] .map`).z as number[][]);
    expect(difference.zmin).toBe(-1);
    difference.z.forEach((row: number[], i: number) =>
      row.forEach((value, j) => expect(value).toBeCloseTo(b[i][j] - a[i][j], 6)),
    );
    expect(find(".why").textContent).toContain("Row and column names are A's");
  });

  it("of different shapes have no difference, and it is said why", () => {
    const { find } = compared(A, OTHER);
    expect(find(".map.difference").hidden).toBe(true);
    expect(find(".board").parentElement!.hidden).toBe(true);
    expect(find(".why").textContent).toContain("maps of different shapes cannot be subtracted");
  });

  it("tell of each head how far they are apart, and show the one that is chosen", () => {
    const onPick = vi.fn();
    const { find, all, map } = compared(A, B, { onPick });
    const { layers, heads } = example(A).maps.cross;
    expect(all(".board button")).toHaveLength(layers * heads);
    const before = map("[data-side=a] .map").z;
    const button = find('.board [aria-label^="L2 H3:"]');
    button.click();
    expect(find('.board [aria-pressed="true"]').getAttribute("aria-label")).toMatch(/^L2 H3:/);
    expect(onPick).toHaveBeenLastCalledWith(expect.objectContaining({ layer: 1, head: 2 }));
    expect(find<HTMLSelectElement>("select.head").value).toBe("2");
    const [a, b] = ["a", "b"].map((side) => map(`[data-side=${side}] .map`).z as number[][]);
    expect(a).not.toEqual(before);
    const between = a.map((row, i) =>
      row.reduce((sum, weight, j) => sum + Math.abs(weight - b[i][j]) / 2, 0),
    );
    const mean = between.reduce((sum, each) => sum + each) / a.length;
    expect(Number(button.textContent)).toBeCloseTo(mean, 2);
  });

  it("go step by step together, and the shorter one stays at its last", () => {
    const { find, all } = compared(A, OTHER);
    const [a, b] = [example(A), example(OTHER)].map(({ tgt }) => tgt.length);
    const total = Math.max(a, b);
    const slider = find<HTMLInputElement>("#compare-step");
    expect(slider.max).toBe(String(total));
    slider.value = String(total);
    slider.dispatchEvent(new Event("input"));
    expect(find(".where").textContent).toBe(`Step ${total} of ${total}`);
    find('[data-move="1"]').click(); // there is none
    expect(find(".where").textContent).toBe(`Step ${total} of ${total}`);
    const tops = all(".sides .row-frame").map((node) => parseFloat(node.style.top));
    expect(tops).toEqual([a, b].map((rows) => CELL * (rows - 1.5) - 2));
    find('[data-move="-1"]').click();
    expect(find(".where").textContent).toBe(`Step ${total - 1} of ${total}`);
  });

  it("are read at the cell that is pointed at, in both sentences", () => {
    const { find } = compared();
    const box = find("[data-side=b] .map");
    const at = (i: number, j: number) => ({ clientX: CELL * j, clientY: CELL * i });
    box.dispatchEvent(new MouseEvent("mousemove", at(2, 1)));
    const { src, tgt } = example(A);
    expect(find(".readout").textContent).toContain(`A: ${tgt[2].s} ← ${src[1].s} 0.`);
    expect(find(".readout").textContent).toContain("   ·   B: ");
    box.dispatchEvent(new MouseEvent("mousemove", at(99, 1)));
    expect(find(".readout").textContent).toBe("");
    box.dispatchEvent(new MouseEvent("click", at(4, 1)));
    expect(find(".where").textContent).toMatch(/^Step 5 /);
  });

  it("are read in one sentence alone where the other has no such cell", () => {
    const [a, b] = [example(A), example(OTHER)].map(({ tgt }) => tgt.length);
    const { find } = compared(A, OTHER);
    const longer = find(`[data-side=${a > b ? "a" : "b"}] .map`);
    longer.dispatchEvent(
      new MouseEvent("mousemove", { clientX: 0, clientY: CELL * (Math.max(a, b) - 1) }),
    );
    expect(find(".readout").textContent).toMatch(a > b ? /^A: [^·]*$/ : /^B: [^·]*$/);
  });

  it("open at the row of a source word, in the head that differs most there", () => {
    const onPick = vi.fn();
    const { made, find } = compared(A, B, { onPick });
    const [a, b] = ["en-zh-tired", "en-zh-wide"];
    made.show(payload(a), payload(b), null, "it");
    const query = example(a).src.findIndex(({ s }) => s === "it");
    const picked = { kind: "encoder", step: query };
    const head = mostDifferentHead(example(a), example(b), query)!;
    expect(onPick).toHaveBeenLastCalledWith({ ...picked, ...head });
    expect(find(".where").textContent).toMatch(new RegExp(`^Query ${query + 1} `));
  });

  it("keep the head for others of the same model, and begin at the leading one of another", () => {
    const onPick = vi.fn();
    const { made } = compared(A, B, { onPick });
    const leading = example(A).leading;
    expect(onPick).toHaveBeenLastCalledWith({ kind: "cross", step: 3, ...leading });
    const chosen = { kind: "encoder", layer: 1, head: 5 } as const;
    expect(leading).not.toMatchObject({ layer: chosen.layer, head: chosen.head });
    made.pick(chosen);
    made.show(payload("de-en-books"), payload("de-en-books-all"));
    expect(onPick).toHaveBeenLastCalledWith({ step: 3, ...chosen });
    const [a, b] = ["en-zh-tired", "en-zh-wide"];
    made.show(payload(a), payload(b));
    expect(onPick).toHaveBeenLastCalledWith({ kind: "cross", step: 3, ...example(a).leading });
  });

  it("have fewer rows in words than in subwords", () => {
    const { find, map } = compared("de-en-books", "de-en-books-all");
    const rows = () => map("[data-side=a] .map").z.length;
    const before = rows();
    find('[data-unit="word"]').click();
    expect(find('[data-unit="word"]').getAttribute("aria-pressed")).toBe("true");
    expect(rows()).toBeLessThan(before);
  });
});

describe("a comparison", () => {
  it("hands on a link to what is seen", async () => {
    vi.useFakeTimers();
    const written = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
    const { find } = compared();
    find("[data-link]").click();
    await vi.advanceTimersByTimeAsync(1);
    const part = new URLSearchParams(new URL(written.mock.calls[0][0]).hash.slice(1));
    expect([part.get("a"), part.get("b")]).toEqual([A, B].map((id) => payload(id).source));
    expect(find(".told").textContent).toBe("Link copied");
    await vi.advanceTimersByTimeAsync(4000);
    expect(find(".told").textContent).toBe("");
    vi.useRealTimers();
  });

  it("saves A, B and their difference as one picture", async () => {
    const saved: { name: string; blob: Blob }[] = [];
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
      saved.push({ name: "", blob: blob as Blob });
      return "blob:one";
    });
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      saved.at(-1)!.name = this.download;
    });
    const { find } = compared();
    find('[data-export="svg"]').click();
    await vi.waitFor(() => expect(saved[0]?.name).toMatch(/^compare-cross-L\d+H\d+\.svg$/));
    const text = await saved[0].blob.text();
    const titles = [...text.matchAll(/<text[^>]*>([^<]*)</g)].map(([, title]) => title);
    expect(titles.map((title) => title.slice(0, 2))).toEqual(["A:", "B:", "Di"]);
  });

  it("is taken away whole", () => {
    vi.useFakeTimers();
    const { made, element } = compared();
    const { react } = window.Plotly!;
    const again = (window.Plotly!.react = vi.fn(react));
    made.destroy();
    dispatchEvent(new Event("explorer-theme"));
    dispatchEvent(new Event("explorer-language"));
    expect(again).not.toHaveBeenCalled();
    expect(element.childNodes).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("says what went wrong until something goes well", () => {
    const { made, find } = compared();
    made.notice("No.");
    expect([find(".notice").hidden, find(".notice").textContent]).toEqual([false, "No."]);
    made.notice("");
    expect(find(".notice").hidden).toBe(true);
  });

  it("waits for plotly.js", () => {
    delete window.Plotly;
    const element = document.body.appendChild(document.createElement("div"));
    const made = new Comparison(element);
    living.push(made);
    made.show(payload(A) satisfies TracePayload, payload(B));
    expect(made.find("[data-side=a] .map").firstChild).toBeNull();
    drawn = sketchPlotly();
    dispatchEvent(new Event("explorer-plotly"));
    expect(drawn.size).toBe(3);
  });
});

describe("two translations in a notebook", () => {
  const whole = { a: example(A), b: example(B) };
  const { layers, heads } = whole.a.maps.cross;
  const table = Array.from({ length: layers * heads }, (_, at) => at / 100);
  const tables = { sub: table, word: null };
  const distances = { encoder: tables, decoder: tables, cross: tables };
  const { layer, head } = whole.a.leading;
  const other = (head + 1) % heads;

  const begun = (maps: ComparisonOptions["maps"]) => {
    const element = document.body.appendChild(document.createElement("div"));
    const onPick = vi.fn();
    const made = new Comparison(element, { maps, distances, onPick });
    living.push(made);
    made.show(inParts(whole.a, [layer, head], A), inParts(whole.b, [layer, head], B));
    const map = (side: string) =>
      drawn.get(made.find(`[data-side=${side}] .map`).firstElementChild!)!.data[0].z as number[][];
    return { made, element, map, onPick };
  };

  it("have the distances that were counted where all maps are, and ask for none of them", () => {
    const maps = vi.fn();
    const { element } = begun(maps);
    const shown = [...element.querySelectorAll(".board button")].map((node) => node.textContent);
    expect(shown).toEqual(table.map((distance) => distance.toFixed(2)));
    expect(maps).not.toHaveBeenCalled();
  });

  it("ask for the two maps that are looked at, and show them once they are there", async () => {
    const maps = vi.fn<NonNullable<ComparisonOptions["maps"]>>(async (side, kind, places) =>
      packedMaps(whole[side], kind, places),
    );
    const { made, map, onPick } = begun(maps);
    made.pick({ head: other });
    expect(made.find<HTMLSelectElement>("select.head").value).toBe(String(head));
    await vi.waitFor(() =>
      expect(onPick).toHaveBeenLastCalledWith(expect.objectContaining({ head: other })),
    );
    expect(maps.mock.calls).toEqual([
      ["a", "cross", [[layer, other]]],
      ["b", "cross", [[layer, other]]],
    ]);
    for (const side of ["a", "b"] as const)
      expect(map(side).flat()).toEqual([...whole[side].head("cross", layer, other)]);
  });

  it("stay as they are where nobody answers, and say so to who told them to change", async () => {
    const { made, onPick } = begun(() => Promise.reject(new Error("gone")));
    made.pick({ head: other });
    await vi.waitFor(() => expect(made.find(".notice").textContent).toContain("No answer"));
    expect(made.find<HTMLSelectElement>("select.head").value).toBe(String(head));
    expect(onPick).toHaveBeenLastCalledWith(expect.objectContaining({ head }));
  });
});
