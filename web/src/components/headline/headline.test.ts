import { beforeEach, describe, expect, it } from "vitest";
import { TestContext } from "../../test/context";
import { makeHeadline } from "./headline";

describe("the headline", () => {
  let x: TestContext;
  beforeEach(() => {
    x = new TestContext();
    x.shows(makeHeadline);
  });
  const pressed = (name: string) =>
    [...x.root.querySelectorAll(`button[data-${name}][aria-pressed="true"]`)].map((button) =>
      button.getAttribute(`data-${name}`),
    );
  const change = (selector: string, value: string) => {
    const select = x.find<HTMLSelectElement>(selector);
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };

  it("names the present layer and head among all that there are", () => {
    const [layer, head] = ["#layer", "#head"].map((name) => x.find<HTMLSelectElement>(name));
    const { layers, heads } = x.trace.maps.cross;
    expect([layer.options.length, head.options.length]).toEqual([layers, heads]);
    x.set({ layer: 1, head: 2 });
    expect([layer, head].map((each) => each.selectedOptions[0].textContent)).toEqual(["2", "3"]);
  });

  it("chooses another layer and head, and what was pointed at is no more", () => {
    const head = x.state.head;
    x.set({ hover: { i: 0, j: 0 } });
    change("#layer", "2");
    expect(x.state).toMatchObject({ layer: 2, head, hover: null });
    x.set({ hover: { i: 0, j: 0 } });
    change("#head", "1");
    expect(x.state).toMatchObject({ layer: 2, head: 1, hover: null });
  });

  it("shows by its buttons what is chosen", () => {
    for (const [name, value] of [
      ["kind", "encoder"],
      ["view", "arcs"],
      ["unit", "word"],
      ["scale", "root"],
    ]) {
      x.find(`button[data-${name}="${value}"]`).click();
      expect(x.state).toMatchObject({ [name]: value });
      expect(pressed(name)).toEqual([value]);
    }
  });

  it("says how much of the weight special tokens hold, and that hidden ones are missing", () => {
    const { rows, columns } = x.trace.maps.cross;
    const map = x.map();
    let held = 0;
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) if (x.trace.src[j].f & 1) held += map[i * columns + j];
    expect(parseFloat(x.find(".special-share").textContent)).toBeCloseTo((100 * held) / rows, -0.5);
    expect(x.find(".state-note").textContent).toBe("");
    x.find(".specials").click();
    expect(x.state.specials).toBe("hidden");
    expect(x.find(".state-note").textContent).toContain("no longer sum to 1");
  });

  it("rescales the rows without special tokens where that was chosen", () => {
    x.set({ renormalise: true });
    x.find(".specials").click();
    expect(x.state.specials).toBe("renormalised");
    expect(x.find(".state-note").textContent).toContain("rescaled to sum to 1");
  });

  it("tells of a head how far it spreads, and what it did in this row", () => {
    const { layer, head } = x.state;
    const at = layer * x.trace.maps.cross.heads + head;
    const { entropy } = x.trace.heads!.cross;
    expect(x.find(".profile").textContent).toContain(`entropy ${entropy[at].toFixed(1)} nats`);
    const { z, columns } = x.picture();
    expect(x.find(".saying").textContent).toContain(
      columns[z[1].indexOf(Math.max(...z[1]))].text.trim(),
    );
  });

  it("tells of an aggregate what it is made of, and lets another be chosen", () => {
    expect(x.find("#aggregate").hidden).toBe(true);
    x.set({ view: "aggregate" });
    expect(x.find("#aggregate").hidden).toBe(false);
    expect(x.find(".profile").textContent).toContain(`${x.trace.maps.cross.heads} heads`);
    expect(x.find(".saying").textContent).toBe("");
    change("#aggregate", "rollout");
    expect(x.state).toMatchObject({ aggregate: "rollout", kind: "encoder" });
    expect(x.find(".profile").textContent).toContain("Abnar and Zuidema 2020");
  });
});
