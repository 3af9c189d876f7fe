/* The lesson: twelve stations on the person's own sentence. Words and code come once, tensors a
   station at a time. */

import { recall, remember } from "../../dom/storage";
import { partOf, plant } from "../../dom/template";
import { LANGUAGES, languagesOf, pageLanguage } from "../../i18n/language";
import { tText } from "../../i18n/words";
import { mountPlot } from "../../plot/figure";
import type { Control, Course, LessonServer, Station, StationAnswer } from "../../protocol/lesson";
import { refused } from "../../protocol/server";
import { readPermalink, stationInLink } from "../../state/permalink";
import { type PageFields, firstExample } from "../page";
import { type ControlsProps, makeControls } from "./controls";
import { showEquation } from "./equation";
import markup from "./lesson.html";
import { paintOutcome } from "./outcome";
import { type Given, paintQuiz } from "./quiz";
import { watchSight } from "./sight";
import { paintStations, paintWays } from "./stations";
import { type Unanswered, answerOf, paintUnanswered } from "./unanswered";
import { type Say, excerpt, worded } from "./words";

const DONE = "lesson-done";
const EXAMPLE = 400; // ms until the page has its example of another direction

class Lesson {
  private readonly box: HTMLElement;
  private course: Course | null = null;
  private name = stationInLink() || "tokens";
  private text = "";
  private way = "";
  /** Of each station: what was turned, which view is shown, what was answered. */
  private readonly options: Record<string, Record<string, string | number>> = {};
  private readonly views: Record<string, string> = {};
  private readonly answers: Record<string, Given> = {};
  private readonly done = new Set<string>(JSON.parse(recall(DONE) || "[]") as string[]);
  private latest: StationAnswer | null = null;
  private readonly figure: { value: string | null } = { value: null };
  private redraw = (): void => {};
  private asked = 0;
  private timer = 0;
  private language = 0;
  private controls: ((props: ControlsProps) => void) | null = null;

  constructor(
    element: Element,
    private readonly server: LessonServer,
    private readonly page: PageFields,
  ) {
    this.box = plant(element, markup);
    const watch = (_: string, draw: () => void) => {
      this.redraw = draw;
    };
    mountPlot(this.find(".shown"), this.figure, watch, this.say);
    this.listen();
    this.watch();
    void this.learn();
  }

  private find<E extends Element = HTMLElement>(selector: string): E {
    return partOf<E>(this.box, selector);
  }
  /** Words: the lesson's own table first, then the page's. */
  private readonly say: Say = (english, values = {}) => {
    const own = this.course?.words[english] || tText(english);
    return own.replace(/\{(\w+)\}/g, (whole, name: string) =>
      name in values ? String(values[name]) : whole,
    );
  };
  private get station(): Station | undefined {
    return this.course?.stations.find((each) => each.name === this.name);
  }
  private get place(): number {
    return this.course!.stations.findIndex((each) => each.name === this.name);
  }

  /* ---- what the server knows ---- */
  private async learn(): Promise<void> {
    const number = ++this.language;
    const answer = await answerOf(this.server.course({ language: pageLanguage() }));
    if (number !== this.language) return;
    if (refused(answer as object)) {
      this.box.lang = "en";
      return this.refuse(answer as Unanswered);
    }
    this.course = answer as Course;
    if (!this.station) this.name = this.course.stations[0].name;
    this.paint();
  }
  private load(wait = 0): void {
    clearTimeout(this.timer);
    const number = ++this.asked;
    this.box.setAttribute("aria-busy", "true");
    if (!this.latest) this.find("output").textContent = this.say("The model is at work …");
    this.timer = window.setTimeout(() => void this.fetch(number), wait);
  }
  private async fetch(number: number): Promise<void> {
    const { name, text, way: direction } = this;
    const request = {
      ...{ station: name, text, direction },
      options: this.options[name] || {},
      view: this.views[name] || "",
    };
    const answer = await answerOf(this.server.station(request));
    if (number !== this.asked) return;
    this.box.removeAttribute("aria-busy");
    if (refused(answer as object)) return this.refuse(answer as Unanswered);
    this.latest = answer as StationAnswer;
    // the course may be the later answer of the two: it shows what it finds
    if (this.course) this.show(this.latest);
  }
  private refuse(why: Unanswered): void {
    const retry = () => (this.course ? this.load() : void this.learn());
    paintUnanswered(this.find(".notice"), why, this.say, retry);
    this.latest = null;
    this.find(".frame").hidden = true;
    for (const part of [".views", ".turn", ".numbers", ".texts", ".tensor"])
      this.find(part).replaceChildren();
    this.box.removeAttribute("aria-busy");
  }

  /* ---- the station: what does not depend on the sentence ---- */
  private paint(): void {
    const now = this.station!;
    this.box.lang = LANGUAGES[pageLanguage()];
    for (const node of this.box.querySelectorAll<HTMLElement>("[data-w]"))
      node.textContent = this.say(node.dataset.w!);
    const { stations } = this.course!;
    const open = (name: string) => this.open(name);
    paintStations(this.find(".stations"), {
      ...{ stations, now: this.name, done: this.done },
      ...{ say: this.say, open },
    });
    this.find(".where").textContent = this.say("Station {n} of {all}", {
      n: this.place + 1,
      all: stations.length,
    });
    this.find("h1").textContent = now.title;
    this.find(".intro").replaceChildren(...worded(now.intro));
    this.find(".code").replaceChildren(...now.code.map((each) => excerpt(each, this.say)));
    const { place } = this;
    showEquation(this.find(".equation"), place, () => !!this.course && this.place === place);
    this.quiz(now);
    const find = (part: string) => this.find(part);
    paintWays(find, { stations, place, say: this.say });
    if (this.latest) this.show(this.latest);
    else if (this.find(".notice").hidden)
      this.find("output").textContent = this.say("The model is at work …");
  }

  /* ---- the station: what was made of the sentence ---- */
  private show(answer: StationAnswer): void {
    const choose = (view: string) => {
      this.views[this.name] = view;
      this.load();
    };
    this.find(".notice").hidden = true;
    this.find(".frame").hidden = false;
    const { say, way } = this;
    const tensor = paintOutcome(this.box, { answer, way, say, choose });
    this.figure.value = answer.figure;
    this.redraw();
    const label = `${this.station!.title}: ${say(answer.view)} ${tensor}`;
    this.find(".plot").setAttribute("aria-label", label);
    this.turn(answer.controls);
  }
  private turn(controls: Control[]): void {
    const change = (name: string, value: string | number, wait = 0) => {
      this.options[this.name] = { ...this.options[this.name], [name]: value };
      this.load(wait);
    };
    const { name: of, say } = this;
    this.controls ??= makeControls(this.find(".turn"));
    this.controls({ of, controls, say, change });
  }

  /* ---- the question ---- */
  private quiz(now: Station): void {
    const choose = (choice: number) => {
      this.answers[now.name] = { choice };
      this.find(".why").replaceChildren();
    };
    const given = this.answers[now.name];
    paintQuiz(this.find(".quiz"), { station: now, given, say: this.say, choose });
  }
  private check(): void {
    const given = this.answers[this.name];
    if (!given) {
      this.find(".why").textContent = this.say("Choose an answer first.");
      return;
    }
    given.checked = true;
    this.finish();
    this.paint();
  }
  private finish(): void {
    this.done.add(this.name);
    remember(DONE, JSON.stringify([...this.done]));
  }

  /* ---- where one is ---- */
  private open(name: string): void {
    if (!this.course?.stations.some((each) => each.name === name)) return;
    this.name = name;
    this.latest = null;
    this.mark();
    this.paint();
    this.load();
    const station = this.find(".station");
    if (station.getBoundingClientRect().top < 0) station.scrollIntoView();
  }
  private mark(): void {
    if (this.box.clientWidth) history.replaceState(null, "", "#lesson=" + this.name);
  }
  private step(by: number): void {
    this.finish();
    this.open(this.course!.stations[this.place + by].name);
    this.find(".station").focus({ preventScroll: true });
  }
  private async copyLink(): Promise<void> {
    const parts = { lesson: this.name, t: this.text, d: this.way };
    const link = "#" + new URLSearchParams(parts).toString();
    try {
      await navigator.clipboard.writeText(location.href.split("#")[0] + link);
      this.find(".link").textContent = this.say("Copied");
    } catch {
      history.replaceState(null, "", link);
    }
  }

  /** The sentence is the page's: what stands in its field is read here; true if it is another. */
  private sentence(): boolean {
    const wish = stationInLink() ? readPermalink(location.hash) : null;
    const way = (wish ? wish.direction : this.page.direction()) ?? "";
    const typed = wish ? wish.text : this.page.field("source-text")?.value;
    const text = typed || (firstExample(way)?.text ?? "");
    if (text === this.text && way === this.way) return false;
    this.text = text;
    this.way = way;
    const field = this.find<HTMLInputElement>("#lesson-text");
    field.value = text;
    field.lang = languagesOf(way)[0] || "";
    return true;
  }
  private listen(): void {
    const on = (selector: string, type: string, run: () => void) =>
      this.find(selector).addEventListener(type, (event) => {
        event.preventDefault();
        run();
      });
    on(".ask", "submit", () => {
      this.text = this.find<HTMLInputElement>("#lesson-text").value;
      // what is typed here goes there
      this.page.setField(this.page.field("source-text"), this.text);
      this.load();
    });
    on(".quiz", "submit", () => this.check());
    on(".check", "click", () => this.check());
    on(".back", "click", () => this.step(-1));
    on(".next", "click", () => this.step(1));
    on(".link", "click", () => void this.copyLink());
    addEventListener("hashchange", () => {
      const name = stationInLink();
      if (!name || name === this.name || !this.box.clientWidth) return;
      this.sentence();
      this.open(name);
    });
    addEventListener("explorer-language", () => void this.learn());
    document.addEventListener("change", (event) => {
      if (!(event.target as Element).closest("#direction")) return;
      const follow = () => this.box.clientWidth && this.sentence() && this.load();
      setTimeout(follow, EXAMPLE);
    });
  }
  /** It works only while it is seen. */
  private watch(): void {
    let visible = false;
    const appear = () => {
      if (!visible) return;
      const other = this.sentence();
      this.mark();
      if (other || !this.latest) this.load();
    };
    watchSight(this.box, (now) => {
      visible = now;
      if (now) void this.page.settled.then(appear);
      else if (stationInLink()) history.replaceState(null, "", location.pathname + location.search);
    });
  }
}

export const mountLesson = (element: Element, server: LessonServer, page: PageFields): void => {
  new Lesson(element, server, page);
};
