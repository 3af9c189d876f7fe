/* The explorer in Gradio's page: the server's messages, and what the fields round it do. */

import { DOUBLE_CLICK } from "../../dom/screen";
import { SWITCH } from "../../components/health/health";
import { RESUME, type Resuming } from "../../components/side/side";
import { tagOf } from "../../i18n/language";
import { t, tMessage } from "../../i18n/words";
import { messageOf } from "../../protocol/decode";
import type { HubServer } from "../../protocol/hub";
import type { Message, StepPayload, TracePayload } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import { readDirection } from "../../state/direction";
import { Explorer } from "../../tabs/explorer/explorer";
import { type Props, type Watch, firstExample, pageData } from "../../tabs/page";
import { makeNewest } from "../newest";
import { type Beginning, makeBeginning } from "./beginning";
import { makeBusy } from "./busy";
import { dim } from "./dimming";
import { entry } from "./entry";
import { type Examples, makeExamples } from "./examples";
import {
  direction,
  fillNow,
  filledWith,
  groupRadios,
  keepFilled,
  setDirection,
  settingsAsked,
  settle,
} from "./fields";
import { keepPageLanguages, rememberLanguages } from "./direction";
import { Here, type Lends } from "./here";
import { offerHub } from "./hub";
import { makeInspection } from "./inspection";
import { type Keeping, makeKeeping } from "./keeping";
import { listenToKeys, press } from "./keys";
import { listenToPage, within } from "./listening";
import { makeLoading } from "./loading";
import { type Fields, type Opening, keepShown, readOpening } from "./opening";
import { makeSettingsSheet } from "./settings-sheet";

class ExplorerPage {
  private readonly x: Explorer;
  private readonly busy: (on: boolean) => void;
  private readonly examples: Examples;
  private readonly opening: Opening;
  private readonly beginning: Beginning | null;
  private readonly loading: () => void;
  private readonly inspect: () => void;
  private readonly settings: () => void;
  /** Look whether the chosen checkpoint has many languages. */
  private readonly languages: () => void;
  /** The number of what was asked for last; answers name theirs. */
  private run = 0;
  private last: string | object | null = null;
  private pressed = 0;
  private settled = false;
  private readonly keeping: Keeping;
  private readonly steps = makeNewest<StepPayload>((step) => this.stream(step));
  /**
   * The settings as they stood before anybody touched them, at the last press, and for what is
   * shown.
   */
  private untouched = "";
  private pressedWith = "";
  private shownWith = "";
  /** Where the server lends its checkpoints; a live page has no such server. */
  private readonly here: Here | null;

  constructor(
    element: Element,
    private readonly props: Props,
    private readonly given: (ExplorerServer & Partial<Lends & HubServer>) | null,
  ) {
    const lends = given?.local ? (given as ExplorerServer & Lends) : null;
    this.here = lends && new Here(lends, (text) => this.x.notice(text));
    const server = this.here?.server ?? given;
    const x = (this.x = new Explorer(element, { server, onPick: () => this.keeping.soon() }));
    entry.explorer = x;
    this.keeping = makeKeeping(x, () => this.settled);
    this.busy = makeBusy(() => this.lost(), server?.gone);
    this.examples = makeExamples(x, {
      isSettled: () => this.settled,
      busy: this.busy,
      announce: (trace) => this.announce(trace, this.untouched),
    });
    this.opening = readOpening(x, this.examples);
    this.beginning =
      server &&
      makeBeginning(x, {
        server,
        busy: this.busy,
        next: () => ++this.run,
        last: () => this.run,
        announce: (trace) => this.announce(trace, this.shownWith),
      });
    this.loading = makeLoading(x, server);
    this.inspect = makeInspection(x, server);
    this.listen();
    this.settings = makeSettingsSheet(x, {
      rows: this.here ? [this.here.row] : [],
      shownWith: () => (this.settled ? this.shownWith : null),
      touched: () => this.speak(),
    });
    groupRadios();
    this.languages = server ? keepPageLanguages(server) : () => {};
    this.speak();
    x.wanted = this.opening.linked;
  }

  receive(): void {
    const { value } = this.props;
    if (!value || value === this.last) return;
    this.last = value;
    const message = messageOf<Message>(value);
    if (message instanceof Promise) void this.later(value, message);
    else this.take(message); // a short one is shown at once, in the order of arrival
  }
  private async later(value: string | object, message: Promise<Message>): Promise<void> {
    const text = t("The answer could not be read. Please try again.");
    const { run } = this;
    const read = await message.catch((): Message => ({ kind: "error", run, text }));
    if (value === this.last) this.take(read);
  }
  private take(message: Message): void {
    const { x } = this;
    if (message.kind === "example") return this.openFirst(message.id);
    if (message.kind === "empty") {
      this.busy(false);
      return x.empty(tMessage(message.text));
    }
    if (message.run !== this.run) return; // it was stopped, or something else asked for since
    this.busy(message.kind === "step" || message.kind === "waiting");
    if (message.kind === "step") return this.steps.soon(message);
    this.steps.drop();
    if (message.kind === "waiting") x.notice(tMessage(message.text));
    else if (message.kind === "error") {
      this.goBack();
      dim(x, true);
      x.notice(tMessage(message.text), true);
    } else {
      x.notice("");
      x.show(message);
      this.announce(message, this.pressedWith);
    }
  }
  private stream(step: StepPayload): void {
    if (step.run !== this.run) return;
    this.x.notice("");
    fillNow("translation", step.translation);
    this.x.stream(step);
    this.speak();
  }
  private openFirst(id: string): void {
    if (this.x.wanted) return;
    const { asked } = this.opening;
    const known = asked && pageData().directions.includes(asked) && firstExample(asked);
    void this.examples.open(known ? known.id : id, true);
  }
  /** A translation is shown; the settings stood at `shownWith` as it was asked for. */
  private announce({ translation, checkpoint }: TracePayload, shownWith: string): void {
    this.shownWith = shownWith;
    keepFilled("translation", translation, tagOf(checkpoint.tgt), () => this.settled);
    this.speak();
    if (this.settled) {
      this.retype();
      keepShown(this.x);
    }
    dim(this.x);
  }
  private lost(): void {
    this.run++;
    this.x.restore();
    this.speak();
    this.x.notice(t("No answer from the server. Please try again."), true);
  }
  /** To the last translation that is whole. */
  private goBack(): void {
    const { x } = this;
    x.restore();
    if (x.payload) fillNow("translation", x.payload.translation);
    if (!x.trace) x.empty(t("Nothing translated yet."));
    this.speak();
  }

  private listen(): void {
    listenToPage({
      turned: () => {
        if (!this.settled) return;
        this.examples.offer();
        this.loading();
        if (!this.examples.follow()) this.turned();
      },
      typed: () => {
        if (this.x.find(".notice.error")) this.x.notice(""); // it was about another text
        dim(this.x);
        this.inspect();
        this.keeping.soon(); // what is kept while a script reloads the page is lost
      },
      clicked: (event) => this.clicked(event),
      left: () => this.keeping.now(),
      spoken: () => {
        this.loading();
        this.speak();
      },
      readdressed: () => {
        this.settled = false; // what is still shown is not of this address
        // a link put into an open page's address is followed like one that opens it
        location.reload();
      },
    });
    listenToKeys();
    const on = <Detail>(name: string, run: (detail: Detail) => void) =>
      this.x.root.addEventListener(name, (event) => run((event as CustomEvent<Detail>).detail));
    on<Resuming>(RESUME, (chosen) => void this.beginning?.resume(chosen));
    on<string>(SWITCH, setDirection);
  }
  /** Another direction was chosen, and the sentence stays. */
  private turned(): void {
    this.inspect();
    if (!dim(this.x)) return;
    const words = { name: this.x.trace.direction, other: direction() };
    const said = "This translation was made by {name}. Press Translate to use {other}.";
    this.x.notice(t(said, words));
  }
  private clicked(event: MouseEvent): void {
    if (within(event, "#translate")) {
      this.x.notice("");
      this.busy(true);
      this.run++;
      this.pressedWith = settingsAsked();
      this.examples.forget();
      this.inspect();
      this.pressed = event.timeStamp;
      this.here?.stop();
      if (this.here?.takes(direction())) {
        event.stopImmediatePropagation(); // Gradio would ask the server
        void this.here.translate(this.run, (message) => this.take(message));
      }
    }
    if (!within(event, "#stop")) return;
    if (event.isTrusted && event.timeStamp - this.pressed < DOUBLE_CLICK) {
      event.stopImmediatePropagation(); // meant Translate, in whose place Stop has come
      return;
    }
    this.here?.stop();
    this.busy(false);
    this.run++;
    this.goBack();
    this.x.notice(t("Stopped."));
  }
  private speak(): void {
    this.settings();
    this.examples.offer();
  }

  readonly number = (): number => this.run;
  readonly opened = (current: Fields): Fields => {
    this.untouched = this.shownWith = settingsAsked();
    this.settled = true;
    const [text, way, ...settings] = this.opening.fields(current);
    rememberLanguages("direction", way);
    entry.go = () => this.go(way);
    return [text, readDirection(way).name, ...settings];
  };
  private async go(way: string): Promise<void> {
    await filledWith(way);
    settle();
    this.languages();
    offerHub(this.given);
    dim(this.x); // an example may have come before the direction was filled in
    this.examples.offer();
    this.loading();
    dim(this.x); // what was shown before the fields were filled may be theirs by now
    const { linked } = this.opening;
    if (!this.opening.isPending()) this.retype();
    else if (linked?.prefix.length && this.beginning)
      void this.beginning.follow(linked).then(() => this.retype());
    else press("translate");
  }
  private retype(): void {
    if (!this.opening.retype()) return;
    dim(this.x);
    this.inspect();
  }
}

export const mountExplorer = (
  element: Element,
  props: Props,
  watch: Watch,
  server: ExplorerServer | null,
): void => {
  const page = new ExplorerPage(element, props, server);
  entry.run = page.number;
  entry.opened = page.opened;
  const receive = () => page.receive();
  watch("value", receive);
  receive();
};
