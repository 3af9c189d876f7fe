import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LabServer } from "../../protocol/lab";
import { blankCanvases } from "../../test/context";
import type { PageFields } from "../page";
import { mountLab } from "./lab";

const page = {
  field: () => null,
  direction: () => "de-en",
  settled: Promise.resolve(),
} as unknown as PageFields;

beforeEach(() => {
  blankCanvases();
  const view = { name: "profile", title: "profile", says: "", source: "", fields: [] };
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: ["de-en"] },
    lab: [{ name: "matter", title: "matter", views: [view] }],
  };
});
afterEach(() => {
  vi.restoreAllMocks();
  delete window.__explorerData;
});

it("says that heads are being switched off while they are, and what starts it before and after", async () => {
  const never = new Promise<never>(() => {});
  const server = { lab_board: () => never, lab_stop: async () => ({}) } as unknown as LabServer;
  document.body.innerHTML = "<main></main>";
  mountLab(document.querySelector("main")!, server, page);
  const find = <E extends HTMLElement>(selector: string) => document.querySelector<E>(selector)!;
  const said = () => find(".lab-grid").textContent;
  const START = "Press Run to switch off each head in turn.";
  expect(said()).toBe(START);
  find<HTMLInputElement>("#lab-text").value = "Hallo.";
  find<HTMLFormElement>(".lab-ask").requestSubmit();
  await new Promise((done) => setTimeout(done));
  expect(said()).toBe("Each head is being switched off alone …");
  find(".lab-stop").click();
  expect(said()).toBe(START);
});
