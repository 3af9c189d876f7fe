/* Questions to the model: which one, the views that answer it, their forms and answers. */

import { el } from "../../dom/element";
import { sentence } from "../../format/text";
import { t, tMessage, tText } from "../../i18n/words";
import type { LabAnswer, LabQuestion, LabView } from "../../protocol/lab";
import { paintAnswer, paintLines } from "./answer";
import { Chosen } from "./chosen";
import { type Options, fieldOf } from "./form";
import { examplePair } from "./pairs";
import type { Requests } from "./requests";
import { replaceTabs, walk } from "./tabs";
import { makeTake } from "./take";
import { type Find, makeWaiting } from "./waiting";

/** One of which a view cannot be asked without. */
const NEEDED: Record<string, string[]> = { force: ["target"], patch: ["other", "noise"] };

/** The view that says how far it is. */
const TELLS = "patch";

export interface QuestionsProps {
  find: Find;
  questions: LabQuestion[];
  requests: Requests;
  direction: () => string;
  /** Another view is shown; false: it will be asked for by whoever is told. */
  opened: () => boolean;
  /** Ask about another sentence. */
  ask: (text: string) => void;
}

export class Questions {
  private question: LabQuestion;
  private view: LabView;
  /** The view that was shown last, by question. */
  private readonly shown: Record<string, LabView> = {};
  private options: Record<string, Options> = {};
  private answers: Record<string, LabAnswer> = {};
  /** What a view answered first, until its whole answer is there. */
  private soon: { view: LabView; answer: LabAnswer } | null = null;
  private readonly chosen = new Chosen();
  private asked = 0;
  /** What was put into the form by itself. */
  private filled: string | null = null;
  private readonly waiting: (on: boolean) => void;
  /** The model is at work; a form that is drawn meanwhile can stop it. */
  private works = false;
  private readonly take: { paint: () => void };
  private readonly find: Find;
  private readonly requests: Requests;

  constructor(private readonly props: QuestionsProps) {
    this.find = props.find;
    this.requests = props.requests;
    [this.question] = props.questions;
    [this.view] = this.question.views;
    const progress = () =>
      this.view.name === TELLS ? this.requests.progress("lab_ask") : Promise.resolve({});
    const wait = makeWaiting(this.find, progress);
    this.waiting = (on) => wait((this.works = on));
    this.take = makeTake(this.find, () => this.taking());
    for (const row of [".lab-questions", ".lab-views"])
      this.find(row).addEventListener("keydown", walk);
    this.find(".lab-options").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.look(true);
    });
  }

  /** The name of the question that is asked. */
  get name(): string {
    return this.question.name;
  }
  /** Nothing is known of the sentence any more. */
  clear(): void {
    this.asked++;
    this.requests.leave("lab_ask");
    if (this.find(".lab-wait")) this.waiting(false);
    if (this.options.force?.target === this.filled) delete this.options.force?.target;
    this.chosen.open(this.options);
    this.answers = {};
    this.soon = null;
  }
  /** What was filled in is of another direction. */
  forget(): void {
    this.options = {};
  }
  /** The translation is what one would begin to force with. */
  offer(translation: string): void {
    const own = (this.options.force ??= {});
    if (own.target) return;
    own.target = this.filled = translation;
    if (this.view.name === "force") this.paint();
  }

  /** Take a question that was asked elsewhere. */
  pose(view: string, options: Record<string, unknown>): void {
    const views = this.props.questions.flatMap((each) => each.views);
    this.view = views.find(({ name }) => name === view) ?? this.view;
    this.question = this.props.questions.find((each) => each.views.includes(this.view))!;
    this.shown[this.question.name] = this.view;
    this.options[view] = { ...(options as Options) };
    this.chosen.forget(view);
  }

  /* ---- tabs and form ---- */
  private open(view: LabView): void {
    this.view = view;
    this.question = this.props.questions.find((each) => each.views.includes(view))!;
    this.shown[this.question.name] = view;
    this.paint();
    if (this.props.opened()) void this.look();
  }
  private tab(
    attribute: "data-question" | "data-view",
    { name, title }: LabQuestion | LabView,
    on: boolean,
    click: () => void,
  ): HTMLElement {
    return el("button", {
      type: "button",
      role: "tab",
      "aria-selected": String(on),
      tabindex: on ? 0 : -1,
      [attribute]: name,
      text: tText(title),
      on: { click },
    });
  }
  private tabs(): void {
    const questions = this.props.questions.map((each) =>
      this.tab("data-question", each, each === this.question, () =>
        this.open(this.shown[each.name] ?? each.views[0]),
      ),
    );
    const views = this.question.views.map((each) =>
      this.tab("data-view", each, each === this.view, () => this.open(each)),
    );
    replaceTabs(this.find(".lab-questions"), t("Questions"), questions);
    replaceTabs(this.find(".lab-views"), t("Views"), views);
  }
  paint(): void {
    const { name, says, source, fields } = this.view;
    this.tabs();
    const muted = el("span", { class: "muted", text: source });
    this.find(".lab-view .lab-says").replaceChildren(tText(says) + " ", muted);
    const options = (this.options[name] ??= {});
    const props = {
      options,
      edited: (field: string) => this.chosen.openBy(field, name, options),
      changed: () => void this.look(true),
    };
    this.find(".lab-options").replaceChildren(
      ...fields.map((field) => fieldOf(field, props)),
      el("button", { type: "submit", class: "btn lab-ask-view", text: t("Ask") }),
      ...this.pairButton(),
      this.stopButton(),
      el("progress", { class: "lab-far", hidden: true, "aria-label": t("Done so far") }),
      el("span", { class: "cap lab-wait", role: "status" }),
    );
    this.find(".lab-view").dataset.view = name;
    this.show();
  }
  private stopButton(): HTMLElement {
    const click = () => {
      this.asked++;
      this.requests.leave("lab_ask");
      this.waiting(false);
    };
    const button = { type: "button", class: "btn lab-stop-view", hidden: !this.works };
    return el("button", { ...button, text: t("Stop"), on: { click } });
  }
  /** Two sentences that differ in a word, and what carries it. */
  private pairButton(): HTMLElement[] {
    const pair = this.view.name === "patch" ? examplePair(this.props.direction()) : undefined;
    if (!pair) return [];
    const click = () => {
      this.options.patch = { other: pair[1] };
      this.props.ask(pair[0]);
    };
    return [el("button", { type: "button", class: "btn", text: t("Try"), on: { click } })];
  }

  /* ---- answers ---- */
  /** Ask, unless the answer is there; `anew`: even then. */
  async look(anew = false): Promise<void> {
    const { name } = this.view;
    const number = ++this.asked;
    const own = this.options[name];
    this.requests.leave("lab_ask");
    const empty = !anew && NEEDED[name]?.every((field) => !String(own[field] ?? "").trim());
    if (!this.requests.subject.text || empty) return this.waiting(false);
    if (!anew && this.answers[name]) {
      this.waiting(false);
      return this.show();
    }
    this.waiting(true);
    await this.showSoon(number);
    if (number !== this.asked) return;
    const answer: LabAnswer = await this.requests.ask("lab_ask", { view: name, options: own });
    if (number !== this.asked) return;
    this.waiting(false);
    this.answers[name] = answer;
    this.soon = null;
    if (answer.follow) own[answer.follow.field] = [];
    if (this.chosen.fill(name, answer.chosen ?? {}, own)) this.paint();
    else this.show();
  }
  /** Show what answers first, where the whole answer takes its time. */
  private async showSoon(number: number): Promise<void> {
    const { name, soon } = this.view;
    if (!soon) return;
    const options = this.options[name];
    const answer: LabAnswer = await this.requests.ask("lab_ask", { view: soon, options });
    if (number !== this.asked || answer.error) return;
    this.soon = { view: this.view, answer };
    this.show();
    this.find(".lab-view").setAttribute("aria-busy", "false"); // what is there may be read
  }
  /** What is shown, as a link and a file name it. */
  private taking() {
    const { text, target, way: direction } = this.requests.subject;
    const { name: view } = this.view;
    const question = { view, options: this.options[view] ?? {}, text, target, direction };
    return { question, answer: this.answers[view] };
  }
  show(): void {
    const soon = this.soon?.view === this.view ? this.soon.answer : null;
    const answer = soon ?? this.answers[this.view.name] ?? {};
    this.take.paint();
    this.refuse(answer);
    paintAnswer(this.find, answer, {
      way: this.requests.subject.way,
      choose: (options) => {
        Object.assign(this.options[this.view.name], options);
        this.chosen.forget(this.view.name);
        this.paint();
        void this.look(true);
      },
      taken: () => this.taken(answer),
      take: (cell) => void this.follow(answer, cell),
    });
  }
  private taken({ follow }: LabAnswer): unknown[] {
    const cells = follow && this.options[this.view.name][follow.field];
    return Array.isArray(cells) ? cells : [];
  }
  /**
   * A cell was taken whose state the model is to go on with; with all that are taken it is asked
   * again.
   */
  private async follow(answer: LabAnswer, cell: unknown): Promise<void> {
    const { view, field } = answer.follow!;
    const own = this.options[this.view.name];
    const before = this.taken(answer);
    const same = (other: unknown) => JSON.stringify(other) === JSON.stringify(cell);
    own[field] = before.some(same) ? before.filter((each) => !same(each)) : [...before, cell];
    dispatchEvent(new Event("lab-followed"));
    const number = ++this.asked;
    this.requests.leave("lab_ask");
    this.waiting(true);
    const said: LabAnswer = await this.requests.ask("lab_ask", { view, options: own });
    if (number !== this.asked) return;
    this.waiting(false);
    this.refuse(said);
    if (!said.lines) return;
    answer.lines = said.lines;
    paintLines(this.find, { lines: said.lines });
  }
  private refuse({ error }: LabAnswer): void {
    const node = this.find(".lab-view-error");
    node.textContent = sentence(tMessage(this.named(error ?? "")));
    node.hidden = !error;
  }
  /** A refusal with a field called as it stands beside it, not as the server knows it. */
  private named(text: string): string {
    const field = this.view.fields.find(({ name }) => text.startsWith(name + " "));
    return field ? `“${tText(field.label)}”${text.slice(field.name.length)}` : text;
  }
}
