/* The weights: fetched when they are wanted, with bytes told, stopped, asked first where data is
   dear, and removed. */

import { sentence } from "../../format/text";
import { CACHE } from "../../live/store";
import { t, tMessage } from "../../i18n/words";
import { el, write } from "../../dom/element";
import { Refused, Stopped, type Caller } from "./client";

type State = "none" | "coming" | "here" | "failed";

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Whether the visitor asked for few bytes, or has a slow line. */
const dear = (): boolean => {
  const line = (navigator as { connection?: { saveData?: boolean; effectiveType?: string } })
    .connection;
  return Boolean(line?.saveData) || /2g/.test(line?.effectiveType ?? "");
};

/** The line below the field, and what is behind it. */
export class Weights {
  private readonly state = new Map<string, State>();
  private readonly coming = new Map<string, Promise<void>>();
  private stopper = new AbortController();
  private shown = "";
  private allowed = false;
  private received = 0;
  private why = "";
  private agreed: (() => void) | undefined;

  constructor(
    private readonly line: HTMLElement,
    private readonly client: Caller,
    private readonly direction: () => string,
    /** Bytes that translating takes, where they are known. */
    private readonly size: (direction: string) => number | undefined,
  ) {
    line.classList.add("weights");
    line.replaceChildren(
      el("progress", { max: 1, value: 0 }),
      el("span", { class: "said", role: "status" }),
      ...["go", "halt", "forget"].map((name) =>
        el("button", { type: "button", class: `${name} btn` }),
      ),
    );
    this.button(".halt").addEventListener("click", () => this.stop());
    this.button(".forget").addEventListener("click", () => void this.forget());
    this.button(".go").addEventListener("click", () => {
      this.allowed = true;
      if (this.agreed) this.agreed();
      else void this.fetch(this.direction()).catch(() => undefined);
      this.paint();
    });
    addEventListener("explorer-language", () => this.paint());
    document.addEventListener("change", () => this.paint());
  }

  /** Begin to fetch before anything is asked, where that costs the visitor nothing. */
  prepare(direction: string): void {
    if (!dear()) void this.fetch(direction).catch(() => undefined);
  }

  /** Resolves when the checkpoint can translate; asks first where data is dear. */
  async ready(direction: string, signal = new AbortController().signal): Promise<void> {
    if (this.state.get(direction) !== "here" && dear() && !this.allowed)
      await this.agree(direction, signal);
    const left = new Promise<never>((_, fail) =>
      signal.addEventListener("abort", () => fail(new Stopped())),
    );
    await Promise.race([this.fetch(direction), left]);
  }

  /**
   * Resolves once what is on its way is here; fails where nothing is: nothing is fetched for it.
   */
  async underway(direction: string): Promise<void> {
    const coming = this.coming.get(direction);
    if (!coming) throw new Stopped();
    await coming;
  }

  /** The bytes that are here, as the reader is told them. */
  get progress(): string {
    return t("Fetching the model: {n} of {all} MB.", {
      n: megabytes(this.received),
      all: megabytes(this.size(this.shown) ?? 0),
    });
  }

  private fetch(direction: string): Promise<void> {
    const before = this.coming.get(direction);
    if (before) {
      this.shown = direction;
      this.paint();
      return before;
    }
    this.stopper = new AbortController();
    this.become(direction, "coming");
    const work = this.client
      .call("load", { direction }, { signal: this.stopper.signal, progress: (n) => this.tell(n) })
      .then(() => this.become(direction, "here"))
      .catch((error: Error) => {
        this.coming.delete(direction);
        this.why = error instanceof Refused ? error.message : "";
        this.become(direction, error instanceof Stopped ? "none" : "failed");
        throw error;
      });
    this.coming.set(direction, work);
    return work;
  }

  private stop(): void {
    this.stopper.abort();
  }

  /** Remove what is kept on this machine; what is in memory goes on until the page is left. */
  private async forget(): Promise<void> {
    await globalThis.caches?.delete(CACHE).catch(() => false);
    this.state.clear();
    this.coming.clear();
    this.why = t("The weights were removed from this machine.");
    this.paint();
  }

  private agree(direction: string, signal: AbortSignal): Promise<void> {
    this.shown = direction;
    this.become(direction, "none");
    return new Promise((done, fail) => {
      this.agreed = () => {
        this.agreed = undefined;
        done();
      };
      signal.addEventListener("abort", () => {
        this.agreed = undefined;
        fail(new Stopped());
        this.paint();
      });
      this.paint();
    });
  }

  private become(direction: string, state: State): void {
    this.state.set(direction, state);
    this.shown = direction;
    if (state === "coming") [this.received, this.why] = [0, ""];
    this.paint();
  }

  private tell(received: number): void {
    this.received = received;
    this.paint();
  }

  private paint(): void {
    const bytes = this.size(this.shown);
    const state = this.state.get(this.shown) ?? "none";
    this.line.hidden = bytes === undefined && !this.why;
    this.line.dataset.state = state;
    const bar = this.line.querySelector("progress")!;
    bar.hidden = state !== "coming";
    bar.value = bytes ? this.received / bytes : 0;
    const size = megabytes(bytes ?? 0);
    const said = {
      coming: this.progress,
      here: t("Computed on this machine; the model's {size} MB are kept here.", { size }),
      failed: sentence(tMessage(this.why)),
      none: this.agreed
        ? t("To translate, {size} MB are downloaded once. Your connection is slow or metered.", {
            size,
          })
        : this.why,
    };
    write(this.line.querySelector(".said")!, said[state]);
    this.show(".halt", state === "coming", t("Stop fetching"));
    this.show(".forget", state === "here", t("Remove"));
    this.show(
      ".go",
      state === "failed" || this.agreed !== undefined,
      t(state === "failed" ? "Try again" : "Fetch it"),
    );
  }

  private show(selector: string, on: boolean, text: string): void {
    const node = this.button(selector);
    node.hidden = !on;
    write(node, text);
  }

  private button(selector: string): HTMLButtonElement {
    return this.line.querySelector<HTMLButtonElement>(selector)!;
  }
}
