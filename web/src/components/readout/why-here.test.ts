import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answersOnly, takeQuestion } from "../../state/ask";
import { blankCanvases, TestContext } from "../../test/context";
import { makeReadout } from "./readout";

let x: TestContext;
const button = () => x.find<HTMLButtonElement>(".why-cell");
const name = () => button().getAttribute("aria-label")!;
/** The page has a lab; `views` are those that it answers. */
const lab = (...views: string[]) => {
  const tabs = document.createElement("div");
  tabs.id = "tabs";
  document.body.append(tabs);
  answersOnly(views.length ? views : ["why"]);
};
beforeAll(blankCanvases);
beforeEach(() => {
  x = new TestContext();
  takeQuestion();
});
const strongest = (row: number) => {
  const values = x.picture().z[row];
  return values.indexOf(Math.max(...values));
};

describe("what asks why a head looks where it looks", () => {
  it("is there only where the lab can be asked about the one head that is shown", () => {
    x.shows(makeReadout);
    expect(button().hidden).toBe(true); // no lab
    lab();
    x.set({ step: 1 });
    expect(button().hidden).toBe(false);
    for (const patch of [
      { view: "aggregate" as const },
      { view: "arcs" as const, overlay: [{ layer: 0, head: 0 }] as never },
    ]) {
      x.set(patch);
      expect(button().hidden).toBe(true);
    }
    x.set({ view: "arcs", overlay: [] });
    expect(button().hidden).toBe(false);
    Object.assign(x.trace, { live: true });
    x.set({ step: 2 });
    expect(button().hidden).toBe(true);
  });

  it("is not there where the lab does not answer that", () => {
    lab("force");
    x.shows(makeReadout);
    expect(button().hidden).toBe(true);
  });

  it("asks about the strongest cell of the present row, by its tokens", () => {
    lab();
    x.shows(makeReadout);
    x.set({ step: 2, layer: 1, head: 3 });
    const row = x.rowIndex(x.picture());
    const { columns } = x.picture();
    expect(name()).toContain(columns[strongest(row)].text);
    expect(name()).toContain(x.trace.reads[row].s);
    button().click();
    expect(takeQuestion()).toMatchObject({
      view: "why",
      options: { kind: "cross", layer: 2, head: 4, query: row + 1, key: strongest(row) + 1 },
      text: x.trace.source,
      target: x.trace.tgt.map(({ i }) => i),
    });
  });

  it("asks about the cell that was chosen, as long as its row is the present one", () => {
    lab();
    x.shows(makeReadout);
    const other = (strongest(2) + 1) % x.trace.src.length;
    x.set({ step: 2, cell: [2, other] });
    button().click();
    expect(takeQuestion()!.options).toMatchObject({ query: 3, key: other + 1 });
    x.set({ step: 1 });
    button().click();
    expect(takeQuestion()!.options).toMatchObject({ query: 2, key: strongest(1) + 1 });
  });

  it("asks about no cell of a decoder's future", () => {
    lab();
    x.shows(makeReadout);
    x.set({ kind: "decoder", step: 1, cell: [1, 3] });
    expect(button().hidden).toBe(true);
    button().click();
    expect(takeQuestion()).toBeNull();
  });
});
