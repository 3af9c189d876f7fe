import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sinusoids } from "../../live/engine/positions";
import { POSITIONS } from "../../protocol/registry";
import { sketchPlotly } from "../../test/plotly";
import { Stopped, type Caller } from "./client";
import { mountPositions } from "./positions";
import type { Weights } from "./weights";

const DRAWN = Object.fromEntries(
  ["light", "dark"].map((theme) => [theme, { data: [{ type: "drawn" }], layout: {} }]),
);
const WIDTH = 8;
const TABLE = Float32Array.from({ length: WIDTH * 200 }, (_, at) => Math.sin(at));
const call = vi.fn();
const ready = vi.fn();
let drawn: ReturnType<typeof sketchPlotly>;

beforeEach(() => {
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: [] },
    site: { offers: [{ direction: "de-en", label: "de-en" }] },
  };
  vi.stubGlobal("fetch", async (address: string) => {
    expect(address).toBe("positions.json");
    return { json: async () => ({ heatmap: DRAWN, curves: DRAWN, similarity: DRAWN }) };
  });
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
    },
  );
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  call.mockReset();
  ready.mockReset();
  call.mockResolvedValue({ table: TABLE, width: WIDTH });
  drawn = sketchPlotly();
  document.body.innerHTML = "<div></div>";
  const caller = { call } as unknown as Caller;
  mountPositions(document.querySelector("div")!, caller, { ready } as unknown as Weights);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  delete window.__explorerData;
  delete window.Plotly;
});
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setTimeout(done));
};
const data = (name: string) =>
  drawn.get(document.querySelector(`#position-${name} .plot`)!)!.data as unknown as Record<
    string,
    never
  >[];
const rows = () => [...(data("heatmap")[0]!.z as number[][])].map((row) => [...row]);
const fill = async (id: string, value: string) => {
  const input = document.querySelector<HTMLInputElement>(`#position-${id} input`)!;
  input.value = value;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  await settle();
};
const choose = async (id: string, value: string) => {
  for (const input of document.querySelectorAll<HTMLInputElement>(`#position-${id} input`))
    input.checked = input.value === value;
  await fill("curves", "0");
};
const said = (name: string) =>
  document.querySelector(`#position-${name} output[aria-live]`)!.textContent;

it("begins with the sinusoids, as large as the registry says, and asks no worker", async () => {
  await settle();
  const { positions, dimensions, layout } = POSITIONS.fields;
  const [length, width] = [positions.value, dimensions.value];
  const want = sinusoids(length, width, layout.choices[0] as "interleaved");
  expect(rows()).toHaveLength(length);
  expect(Math.abs(rows()[3]![2]! - want[3 * width + 2]!)).toBeLessThan(1e-3);
  expect(call).not.toHaveBeenCalled();
});

it("draws anew what is changed, whole in all three figures", async () => {
  await settle();
  await fill("length", "16");
  await fill("curves", "0, 3");
  expect(rows()).toHaveLength(16);
  expect(data("lines").map((curve) => curve.name)).toEqual(["dim 0", "dim 3"]);
  expect(data("similarity")[0]!.z).toHaveLength(16);
});

it("of a checkpoint's own table shows the corner, once its weights are here", async () => {
  await settle();
  await fill("length", "5");
  await fill("depth", "4");
  await choose("table", "de-en");
  expect(ready.mock.calls[0]![0]).toBe("de-en");
  expect(call.mock.calls[0]!.slice(0, 2)).toEqual(["positions", { direction: "de-en" }]);
  const [count, depth] = [rows().length, rows()[0]!.length];
  rows().forEach((row, at) =>
    row.forEach((value, column) => expect(value).toBeCloseTo(TABLE[at * WIDTH + column]!, 2)),
  );
  expect([count, depth <= WIDTH]).toEqual([5, true]);
});

it("dimensions that cannot be are refused in the curves' place alone", async () => {
  await settle();
  await fill("curves", "none");
  expect(said("lines")).toContain("'none' is no dimension");
  expect([said("heatmap"), said("similarity")]).toEqual(["", ""]);
});

it.each([
  [new Stopped(), "Stopped."],
  [new Error("the model is not here"), "the model is not here"],
])("a table that does not come is said everywhere: %s", async (error, words) => {
  await settle();
  ready.mockRejectedValue(error);
  await choose("table", "de-en");
  for (const name of ["heatmap", "lines", "similarity"])
    expect(said(name)!.toLowerCase()).toContain(words.toLowerCase());
});
