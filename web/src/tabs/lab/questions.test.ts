import { expect, it } from "vitest";
import type { LabAnswer, LabQuestion, LabView } from "../../protocol/lab";
import html from "./lab.html";
import { Questions } from "./questions";
import type { Requests } from "./requests";

const view = (name: string, soon?: string) => ({
  ...{ name, title: name, says: "", source: "", fields: [] },
  ...(soon ? { soon } : {}),
});
const questions: LabQuestion[] = [
  { name: "believe", title: "believe", views: [view("arena", "arena soon"), view("alti")] },
];
const lines = (text: string): LabAnswer => ({ lines: [[text, {}]] });

/** Questions over a server that answers when it is told to. */
const lab = (views: LabView[] = questions[0].views) => {
  const root = document.createElement("div");
  root.innerHTML = html;
  document.body.replaceChildren(root);
  type Asked = { view: string; options: object; answer: (answer: LabAnswer) => void };
  const asked: Asked[] = [];
  const requests = {
    subject: { text: "Hallo.", way: "de-en", id: null, target: null },
    ask: (_: string, { view, options }: { view: string; options: object }) =>
      new Promise((answer) => asked.push({ view, options: { ...options }, answer })),
    leave: () => {},
    progress: () => Promise.resolve({}),
  } as unknown as Requests;
  const find = <E extends Element = HTMLElement>(selector: string) =>
    root.querySelector<E>(selector)!;
  const props = {
    find,
    questions: [{ ...questions[0], views }],
    requests,
    direction: () => "de-en",
  };
  const made = new Questions({ ...props, opened: () => true, ask: () => {} });
  made.paint();
  return { made, find, asked, shown: () => find(".lab-lines").textContent };
};
const turn = () => new Promise((done) => setTimeout(done));

it("keeps its tabs while an answer comes: one may be pressed just then", async () => {
  const { made, find, asked } = lab([view("why"), view("cell")]);
  const tab = (name: string) => find(`.lab-views [data-view="${name}"]`);
  made.pose("why", { key: null });
  void made.look();
  const cell = tab("cell");
  await turn();
  asked[0].answer({ ...lines("an answer"), chosen: { key: 3 } });
  await turn();
  expect(tab("cell")).toBe(cell);
  cell.click();
  expect(tab("cell").getAttribute("aria-selected")).toBe("true");
  expect(tab("why").getAttribute("aria-selected")).toBe("false");
  expect(tab("why").tabIndex).toBe(-1);
});

it("shows what answers first until the whole answer comes", async () => {
  const { made, find, asked, shown } = lab();
  void made.look();
  made.paint(); // as when the language changes
  expect(find(".lab-stop-view").hidden).toBe(false);
  asked[0].answer(lines("five methods"));
  await turn();
  expect(shown()).toContain("five methods");
  expect(find(".lab-view").getAttribute("aria-busy")).toBe("false");
  expect(find(".lab-stop-view").hidden).toBe(false);
  asked[1].answer(lines("seven methods"));
  await turn();
  expect(asked.map((each) => each.view)).toEqual(["arena soon", "arena"]);
  expect(shown()).toContain("seven methods");
  expect(find(".lab-stop-view").hidden).toBe(true);
});

it("asks on where the first answer is a refusal, and not for a view that was left", async () => {
  const { made, find, asked, shown } = lab();
  void made.look();
  asked[0].answer({ error: "busy" });
  await turn();
  expect(asked[1].view).toBe("arena");
  find<HTMLElement>('[data-view="alti"]').click();
  await turn();
  asked[1].answer(lines("seven methods"));
  asked[2].answer(lines("shares"));
  await turn();
  expect(asked.map((each) => each.view)).toEqual(["arena soon", "arena", "alti"]);
  expect(shown()).toContain("shares");
});

it("does not take the first answer for the whole one", async () => {
  const { made, find, asked } = lab();
  void made.look();
  asked[0].answer(lines("five methods"));
  await turn();
  find<HTMLElement>('[data-view="alti"]').click();
  await turn();
  find<HTMLElement>('[data-view="arena"]').click();
  await turn();
  expect(asked.map((each) => each.view)).toEqual(["arena soon", "arena", "alti", "arena soon"]);
});

it("keeps the first answer where the page is drawn anew meanwhile, and not the former of another view", async () => {
  const { made, asked, shown } = lab();
  void made.look();
  asked[0].answer(lines("five methods"));
  await turn();
  made.show(); // as when a phone is turned
  expect(shown()).toContain("five methods");
  made.clear();
  made.show();
  expect(shown()).toBe("");
});

it("asks for a word again where another step is chosen, and for the words of another sentence", async () => {
  const word = { name: "word", label: "Word", kind: "text" as const, value: null };
  const step = { name: "step", label: "Step", kind: "number" as const, value: 2 };
  const { made, find, asked } = lab([{ ...view("contrast"), fields: [step, word] }]);
  void made.look();
  await turn();
  asked[0].answer({ ...lines("leads"), chosen: { word: "to" } });
  await turn();
  const field = find<HTMLInputElement>('.lab-options [aria-label="Step"]');
  expect(find<HTMLInputElement>('.lab-options [aria-label="Word"]').value).toBe("to");
  field.value = "5";
  field.dispatchEvent(new Event("input"));
  field.dispatchEvent(new Event("change"));
  await turn();
  expect(asked[1].options).toMatchObject({ step: 5, word: null });
  asked[1].answer({ ...lines("leads"), chosen: { word: "park" } });
  await turn();
  made.clear();
  void made.look();
  await turn();
  expect(asked[2].options).toMatchObject({ step: 5, word: null });
});

it("keeps the keyboard on its tab where the page is drawn anew", () => {
  const { made, find } = lab();
  find(".lab-views [data-view=alti]").focus();
  made.paint();
  expect(document.activeElement).toBe(find(".lab-views [data-view=alti]"));
  find("[data-question]").focus();
  made.paint();
  expect(document.activeElement).toBe(find("[data-question]"));
});
