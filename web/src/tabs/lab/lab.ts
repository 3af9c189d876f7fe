/* The lab: six questions to the model; the head switchboard with its ribbons answers the first,
   views the others. */

import { saveAs } from "../../dom/download";
import { el, write } from "../../dom/element";
import { partOf, plant } from "../../dom/template";
import { sentence } from "../../format/text";
import { t, tMessage } from "../../i18n/words";
import type { Board, Change, LabServer } from "../../protocol/lab";
import { refused } from "../../protocol/server";
import { takeQuestion } from "../../state/ask";
import { type PageFields, firstExample, pageData } from "../page";
import { Switchboard } from "./board";
import { type Changed, changeFile, paintChange } from "./change";
import markup from "./lab.html";
import { Questions } from "./questions";
import { type Requests, makeRequests } from "./requests";

const SWITCHBOARD = "matter"; // the question that it answers
const EXAMPLE = 400; // ms until the page has its example of another direction

class Lab {
  private readonly box: HTMLElement;
  private readonly requests: Requests;
  private readonly board: Switchboard;
  private readonly questions: Questions;
  private change: Changed | null = null;
  private run = 0;
  /** The sentence was typed here. */
  private own = false;

  constructor(
    element: Element,
    server: LabServer,
    private readonly page: PageFields,
  ) {
    this.box = plant(element, markup);
    this.requests = makeRequests(server, (translation) => this.questions.offer(translation));
    this.board = new Switchboard(this.find, () => this.box.getAttribute("aria-busy") === "true");
    this.questions = new Questions({
      find: this.find,
      questions: pageData().lab ?? [],
      requests: this.requests,
      direction: page.direction,
      opened: () => this.turnedTo(),
      ask: (text) => {
        this.field.value = text;
        this.own = true;
        this.requests.subject.target = null;
        void this.start();
      },
    });
    this.listen();
    this.watch();
    this.paint();
    this.answerQuestion();
  }

  private readonly find = <E extends Element = HTMLElement>(selector: string): E =>
    partOf<E>(this.box, selector);
  private get field(): HTMLInputElement {
    return this.find<HTMLInputElement>("#lab-text");
  }
  private refuse(text: string): void {
    const node = this.find(".lab-error");
    node.hidden = !text;
    node.textContent = sentence(text);
  }

  /* ---- long runs: a row of short requests, which can be stopped between them ---- */
  private busy(on: boolean, words = "", done = 0): void {
    const bar = this.find<HTMLProgressElement>(".lab-done");
    this.find(".lab-run").hidden = on;
    this.find(".lab-stop").hidden = !on;
    this.find<HTMLButtonElement>(".lab-again").disabled = on;
    this.find(".lab-progress").textContent = words;
    bar.hidden = !on;
    bar.value = done;
    this.box.setAttribute("aria-busy", String(on));
    this.board.paint(); // until it is measured it says whether it will be
  }
  /** Nothing is known of the sentence any more, and what is still on its way is not waited for. */
  private clear(): void {
    this.requests.leave("lab_board", "lab_switch");
    this.questions.clear();
    this.board.clear();
    this.change = null;
    Object.assign(this.requests.subject, { text: "", id: null });
    this.refuse("");
  }
  /**
   * Ask everything anew of the sentence that is typed; the switchboard alone takes more than a
   * moment.
   */
  private async start(show = false): Promise<void> {
    const number = ++this.run;
    this.clear();
    Object.assign(this.requests.subject, { text: this.field.value, way: this.page.direction() });
    this.paint();
    if (this.questions.name === SWITCHBOARD) await this.measure(number, show);
    if (number === this.run) void this.questions.look();
  }
  /** Another view is shown; false: the switchboard is measured first. */
  private turnedTo(): boolean {
    const here = this.questions.name === SWITCHBOARD;
    this.find(".lab-top").hidden = !here;
    if (!here || !this.requests.subject.text) return true;
    this.paintChange();
    if (this.board.measured || !this.find(".lab-stop").hidden) return true;
    const number = ++this.run;
    void this.measure(number, true).then(() => {
      if (number === this.run) void this.questions.look();
    });
    return false;
  }
  /**
   * Fill the switchboard; `show` switches the head off that the translation needs most, so that the
   * first look has something to see.
   */
  private async measure(number: number, show: boolean): Promise<void> {
    const { kinds } = this.board;
    for (const [done, kind] of kinds.entries()) {
      const words = { done, all: kinds.length };
      const said = "Switching off heads one by one: {done} of {all} attentions";
      this.busy(true, t(said, words), done);
      const answer = await this.requests.ask("lab_board", { kind });
      if (number !== this.run) return;
      if (refused(answer)) {
        this.busy(false);
        return this.refuse(tMessage(answer.error));
      }
      this.board.take(answer as Board);
      if (show && !done) this.board.switchNeediest(kind);
      this.paint();
      if (!done) await this.again();
      if (number !== this.run) return;
    }
    this.busy(false);
  }
  private stop(): void {
    this.run++;
    this.requests.leave("lab_board", "lab_switch");
    this.busy(false, t("Stopped."));
  }
  private async again(): Promise<void> {
    const number = this.run;
    const off = this.board.count;
    const answer = await this.requests.ask("lab_switch", { gates: this.board.gates() });
    if (number !== this.run) return;
    this.refuse(refused(answer) ? tMessage(answer.error) : "");
    if (!refused(answer)) this.change = { ...(answer as Change), off };
    this.paintChange();
  }

  /* ---- words, and what starts what ---- */
  private paintChange(): void {
    paintChange(this.find, this.change, this.requests.subject.way);
  }
  private paint(): void {
    this.find(".lab-ask label").textContent = t("Sentence to translate");
    write(this.find(".lab-run"), t("Run"));
    write(this.find(".lab-stop"), t("Stop"));
    this.find(".lab-board h2").textContent = t("Head switchboard");
    const says = t(
      "Each number is the change of log p of the first translation, in nats, when that head alone is switched off. It does not say what the model would have learned without the head, nor what two heads do together.",
    );
    const source = el("span", { class: "muted" }, "Voita et al. 2019; Michel et al. 2019");
    this.find(".lab-board .lab-says").replaceChildren(says + " ", source);
    this.find(".lab-change h2").textContent = t("What changes");
    write(this.find(".lab-again"), t("Translate again"));
    this.find(".lab-note").textContent = t(
      "Ribbon width and colour: word alignment weight, mean of the aligning heads that are on. Underlined: words that changed.",
    );
    write(this.find(".lab-export span"), t("Export"));
    this.find(".lab-top").hidden = this.questions.name !== SWITCHBOARD;
    this.board.paint();
    this.paintChange();
    this.questions.paint();
  }
  private async save(format?: string): Promise<void> {
    if (!format || !this.change) return;
    const { subject } = this.requests;
    const name = `lab-${subject.way.replace(/[^\w-]+/g, "-")}.${format}`;
    saveAs(name, await changeFile(format, this.change, subject, this.board.changes()));
  }
  private listen(): void {
    this.find(".lab-ask").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.start();
    });
    this.find(".lab-stop").addEventListener("click", () => this.stop());
    this.find(".lab-export").addEventListener("click", (event) => {
      void this.save((event.target as HTMLElement).dataset.save);
    });
    this.field.addEventListener("input", () => {
      this.own = !!this.field.value.trim();
      this.requests.subject.target = null;
    });
    addEventListener("lab-ask", () => this.answerQuestion());
    this.find(".lab-again").addEventListener("click", () => {
      if (this.board.known) void this.again();
    });
    document.addEventListener("change", (event) => {
      if ((event.target as Element).closest("#direction")) this.turned();
    });
    addEventListener("explorer-language", () => this.paint());
    addEventListener("explorer-theme", () => {
      this.board.paint();
      this.paintChange();
    });
  }
  /** What is asked elsewhere on the page is answered here. */
  private answerQuestion(): void {
    const question = takeQuestion();
    if (!question) return;
    const { view, options, text, target, direction: way } = question;
    if (way) this.page.setDirection(way);
    this.field.value = text;
    this.own = true;
    this.requests.subject.target = target;
    this.questions.pose(view, options);
    void this.start();
  }
  /** Another direction was chosen. */
  private turned(): void {
    this.stop();
    this.clear();
    this.questions.forget();
    this.requests.subject.target = null;
    this.find(".lab-progress").textContent = "";
    this.paint();
    setTimeout(() => this.box.clientWidth && this.opened(), EXAMPLE);
  }
  /**
   * Opened, the lab runs by itself on the page's sentence, once for each, unless one was typed
   * here.
   */
  private opened(): void {
    const way = this.page.direction();
    const typed = (this.page.field("source-text")?.value ?? "").trim();
    const text = typed || (firstExample(way)?.text ?? "");
    const { subject } = this.requests;
    if (this.own || !text || (text === subject.text && way === subject.way)) return;
    this.field.value = text;
    void this.start(true);
  }
  private watch(): void {
    let width = 0;
    const look = () => {
      const before = width;
      width = this.box.clientWidth;
      if (width && !before) void this.page.settled.then(() => width && this.opened());
      if (!width || width === before) return;
      this.paintChange();
      this.questions.show();
    };
    new ResizeObserver(look).observe(this.box);
  }
}

export const mountLab = (element: Element, server: LabServer, page: PageFields): void => {
  new Lab(element, server, page);
};
