import { expect, it } from "vitest";
import type { LabAnswer, LabQuestion } from "../../protocol/lab";
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
const lab = () => {
  const root = document.createElement("div");
  root.innerHTML = html;
  document.body.replaceChildren(root);
  const asked: { view: string; answer: (answer: LabAnswer) => void }[] = [];
  const requests = {
    subject: { text: "Hallo.", way: "de-en", id: null, target: null },
    ask: (_: string, { view }: { view: string }) =>
      new Promise((answer) => asked.push({ view, answer })),
    leave: () => {},
    progress: () => Promise.resolve({}),
  } as unknown as Requests;
  const find = <E extends Element = HTMLElement>(selector: string) =>
    root.querySelector<E>(selector)!;
  const props = { find, questions, requests, direction: () => "de-en" };
  const made = new Questions({ ...props, opened: () => true, ask: () => {} });
  made.paint();
  return { made, find, asked, shown: () => find(".lab-lines").textContent };
};
const turn = () => new Promise((done) => setTimeout(done));

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
