import { beforeEach, describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makeMore } from "./more";

describe("the sheet of further options", () => {
  let x: TestContext;
  let details: HTMLDetailsElement;
  beforeEach(() => {
    x = new TestContext();
    x.shows(makeMore);
    details = x.find<HTMLDetailsElement>(".more");
    details.open = true;
  });
  const button = (text: string) =>
    [...details.querySelectorAll("button")].find((each) => each.textContent.startsWith(text));
  const tick = (text: string) =>
    [...details.querySelectorAll("label")]
      .find((label) => label.textContent === text)!
      .querySelector("input")!
      .click();
  const pick = (text: string, value: string) => {
    const label = [...details.querySelectorAll("label")].find((each) =>
      each.firstElementChild?.textContent.startsWith(text),
    )!;
    const select = label.querySelector("select")!;
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };

  it("chooses the names of rows, the colours and what the tiles show", () => {
    pick("Row names", "reads");
    pick("Colours", "cividis");
    pick("Tiles show", "row");
    expect(x.state).toMatchObject({ labels: "reads", palette: "cividis", tile: "row" });
    const chosen = [...details.querySelectorAll("select")].map((select) => select.value);
    expect(chosen).toEqual(["reads", "cividis", "row"]);
  });

  it("writes numbers into the cells and shows arcs of one row, or not", () => {
    tick("Numbers in the cells");
    tick("Arcs of the chosen row only");
    expect(x.state).toMatchObject({ numbers: true, only: true });
    tick("Numbers in the cells");
    expect(x.state).toMatchObject({ numbers: false, only: true });
  });

  it("scales rows at once where special tokens are hidden already", () => {
    const name = "Scale rows to 1 when specials are hidden";
    tick(name);
    expect(x.state).toMatchObject({ renormalise: true, specials: "shown" });
    x.set({ specials: "hidden", renormalise: false });
    tick(name);
    expect(x.state.specials).toBe("renormalised");
    tick(name);
    expect(x.state.specials).toBe("hidden");
  });

  it("shows the paper's figures on this sentence, and closes", () => {
    x.set({ layer: 1, head: 0 });
    button("3:")!.click();
    const { heads } = x.trace.maps.encoder;
    expect(x.state).toMatchObject({ kind: "encoder", view: "arcs", only: true });
    expect(x.state.overlay).toEqual(
      Array.from({ length: Math.min(8, heads) }, (_, head) => [1, head]),
    );
    expect(details.open).toBe(false);
    button("4:")!.click();
    expect(x.state).toMatchObject({ only: false, overlay: [] });
    button("5:")!.click();
    expect(x.state.overlay).toEqual([
      [1, 0],
      [1, 1],
    ]);
  });

  it("clears pins and chosen heads where there are any", () => {
    expect([button("Clear pins"), button("Clear chosen heads")]).toEqual([undefined, undefined]);
    x.set({ pins: { rows: [1], columns: [] }, overlay: [[0, 0]] });
    button("Clear pins")!.click();
    expect(x.state.pins).toEqual({ rows: [], columns: [] });
    button("Clear chosen heads")!.click();
    expect(x.state.overlay).toEqual([]);
  });

  it("closes by Escape and by a click elsewhere, and listens no longer than the explorer lives", () => {
    const outside = () => document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
    details.firstElementChild!.dispatchEvent(new Event("pointerdown", { bubbles: true }));
    expect(details.open).toBe(true);
    outside();
    expect(details.open).toBe(false);
    details.open = true;
    details.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    expect(details.open).toBe(false);
    details.open = true;
    x.life.abort();
    outside();
    expect(details.open).toBe(true);
  });
});
