import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { blankCanvases } from "../../test/context";
import { paintChange } from "./change";
import html from "./lab.html";

beforeEach(() => void blankCanvases());
afterEach(() => void vi.restoreAllMocks());

it("says how both translations were decoded, since the Explorer's may be another", () => {
  document.body.innerHTML = html;
  const find = <E extends Element>(selector: string) => document.querySelector<E>(selector)!;
  const side = (text: string) => ({ text, words: text.split(" "), score: -2, links: [[1], [0]] });
  const [before, after] = [side("Old house"), side("Old houses")];
  const change = { source: ["Haus"], before, after, first: -2.5, change: -0.5, off: 1 };
  paintChange(find, change, "de-en");
  const said = ["before", "after"].map((name) => find(`.${name} .cap`).textContent);
  expect(said).toEqual([
    "log p −2.00 nats · greedy",
    "log p −2.00, of the first translation −2.50 (Δ −0.50) · greedy",
  ]);
  expect(find(".after u").textContent).toBe("houses");
});
