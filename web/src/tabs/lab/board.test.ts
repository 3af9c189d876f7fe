import { beforeEach, describe, expect, it } from "vitest";
import { blankCanvases } from "../../test/context";
import type { Board } from "../../protocol/lab";
import { Switchboard } from "./board";
import html from "./lab.html";

const cross: Board = {
  kind: "cross",
  values: [
    [-0.2, 0.1],
    [-3, 0.4],
  ],
  roles: [
    ["mixed", "aligns"],
    ["aligns", "sink"],
  ],
};

let root: HTMLElement;
let board: Switchboard;
let busy = false;
const find = <E extends Element = HTMLElement>(selector: string) =>
  root.querySelector<E>(selector)!;
const head = (id: string) => find(`[data-head="cross:${id}"]`);
const press = (selector: string, text: string) =>
  [...root.querySelectorAll<HTMLElement>(`${selector} button`)]
    .find(({ textContent }) => textContent === text)!
    .click();

beforeEach(() => {
  blankCanvases();
  busy = false;
  root = document.createElement("div");
  root.innerHTML = html;
  document.body.replaceChildren(root);
  board = new Switchboard(find, () => busy);
});

describe("before it was measured", () => {
  it("says what to do, or what is being done", () => {
    board.paint();
    expect(find(".lab-grid").textContent).toContain("Press Run");
    busy = true;
    board.paint();
    expect(find(".lab-grid").textContent).toContain("being switched off");
    expect([board.known, board.measured, board.count]).toEqual([false, false, 0]);
  });
});

describe("the switchboard", () => {
  beforeEach(() => {
    board.take(cross);
    board.paint();
  });

  it("shows of each head what the translation loses without it", () => {
    expect(head("1:0").textContent).toBe("−3.00");
    expect(head("1:0").getAttribute("aria-label")).toContain("L2H1, aligns");
    expect(find(".lab-legend").textContent).toContain("0 of 4 heads off");
  });

  it("switches one head off, and on again", () => {
    head("0:1").click();
    expect(head("0:1").getAttribute("aria-checked")).toBe("false");
    expect(board.gates()).toEqual({
      cross: [
        [1, 0],
        [1, 1],
      ],
    });
    head("0:1").click();
    expect(board.count).toBe(0);
  });

  it("switches a layer, or one head of every layer", () => {
    press(".lab-grid", "L2");
    expect(board.gates().cross).toEqual([
      [1, 1],
      [0, 0],
    ]);
    press(".lab-grid", "H1");
    expect(board.gates().cross).toEqual([
      [0, 1],
      [0, 0],
    ]);
  });

  it("turns a gate half way", () => {
    head("1:1").click();
    const slider = find<HTMLInputElement>(".lab-gate input");
    slider.value = "0.5";
    slider.dispatchEvent(new Event("input"));
    expect(board.gates().cross![1][1]).toBe(0.5);
    expect(head("1:1").textContent).toContain("0.50");
  });

  it("switches off the head that is needed most, those that align, or all but the last layer", () => {
    board.switchNeediest("cross");
    expect(board.gates().cross).toEqual([
      [1, 1],
      [0, 1],
    ]);
    press(".lab-presets", "Aligning heads off");
    expect(board.gates().cross).toEqual([
      [1, 0],
      [0, 1],
    ]);
    press(".lab-presets", "Only layer 2");
    expect(board.gates().cross).toEqual([
      [0, 0],
      [1, 1],
    ]);
    press(".lab-presets", "All on");
    expect(board.count).toBe(0);
    press(".lab-presets", "3 random heads off");
    expect(board.count).toBe(3);
  });

  it("goes by arrow keys from head to head, not over the edge", () => {
    head("0:0").focus();
    const key = (name: string) =>
      document.activeElement!.dispatchEvent(
        new KeyboardEvent("keydown", { key: name, bubbles: true }),
      );
    key("ArrowDown");
    expect(document.activeElement).toBe(head("1:0"));
    key("ArrowRight");
    expect(document.activeElement).toBe(head("1:1"));
    key("ArrowRight");
    expect(document.activeElement).toBe(head("1:1"));
  });

  it("tells each change for a table, with the gate that is set", () => {
    head("1:0").click();
    const rows = board.changes();
    expect(rows).toHaveLength(4);
    const row = { attention: "cross", layer: 2, head: 1, role: "aligns", change: -3, gate: 0 };
    expect(rows[2]).toEqual(row);
  });

  it("knows nothing of another sentence", () => {
    head("1:0").click();
    board.clear();
    expect([board.known, board.count]).toEqual([false, 0]);
    expect(board.gates()).toEqual({});
  });
});
