/* "Compute here": a served page's translations on the visitor's own machine, by the worker of a
   live page. */

import { el, write } from "../../dom/element";
import { recall, remember } from "../../dom/storage";
import { t } from "../../i18n/words";
import type { Calls, Name } from "../../live/calls";
import { type Answer, type ExplorerServer, refused } from "../../protocol/server";
import { type Caller, canCompute, Client, type Listening, Refused } from "../live/client";
import { liveServer } from "../live/server";
import { usedSettings, valueIn } from "../live/settings";
import { translateHere } from "../live/translating";
import { Weights } from "../live/weights";
import { direction, field, settingText } from "./fields";
import { serverGone } from "./server";

/** What `translator.ui.live.here` answers of a direction. */
export interface Local {
  manifest: object;
  /** Bytes of the checkpoint's files. */
  size: number;
  /** Addresses of the worker's script and of the offline page's shell. */
  worker: string;
  shell: string;
  /** Why a browser cannot compute this checkpoint, in words; then there is nothing else. */
  uncovered?: string;
}
type AskLocal = (request: { direction: string }) => Promise<Answer<Local>>;

/** A server that lets browsers compute with its checkpoints. */
export interface Lends {
  local: AskLocal;
}

const KEY = "compute-here";
const WORKERS = 2;
const SLOW = 100; // ms a token, above which most servers are faster

/** A worker for each checkpoint, of which few are kept. */
class Workers implements Caller {
  readonly known = new Map<string, Local>();
  private readonly clients = new Map<string, Client>();

  constructor(private readonly ask: AskLocal) {}

  async call<N extends Name>(
    name: N,
    given: Calls[N]["given"],
    listening: Listening = {},
  ): Promise<Calls[N]["gives"]> {
    return (await this.of(given.direction)).call(name, given, listening);
  }

  /** What computing a direction takes, or why it cannot be done. */
  async look(way: string): Promise<Local> {
    const known = this.known.get(way);
    if (known) return known;
    const found = await this.ask({ direction: way });
    if (refused(found)) throw new Refused(found.error, true);
    this.known.set(way, found);
    return found;
  }

  private async of(way: string): Promise<Client> {
    const { uncovered, worker, manifest } = await this.look(way);
    if (uncovered) throw new Refused(cannot(), false);
    const address = `data:application/json,${encodeURIComponent(whole(manifest))}`;
    const client = this.clients.get(way) ?? new Client(worker, address);
    this.clients.delete(way);
    this.clients.set(way, client);
    for (const oldest of [...this.clients.keys()].slice(0, -WORKERS)) {
      this.clients.get(oldest)!.close();
      this.clients.delete(oldest);
    }
    return client;
  }
}

/** A manifest whose files' addresses hold wherever it is read. */
const whole = (manifest: object): string =>
  JSON.stringify(manifest, (name, value: unknown) =>
    name === "path" ? new URL(String(value), document.baseURI).href : value,
  );

const cannot = (): string =>
  t("This checkpoint cannot be computed in a browser. The server translates.");

/** The switch in Settings, and what it decides: who answers the explorer. */
export class Here {
  /** One line for Settings. */
  readonly row: HTMLElement;
  /** Answers what the explorer asks, here or by the server. */
  readonly server: ExplorerServer;
  private readonly box = el("input", { type: "checkbox", id: "compute-here" });
  private readonly says = el("span");
  private readonly workers: Workers;
  private readonly weights: Weights;
  private stopper = new AbortController();
  private working = false;

  constructor(
    server: ExplorerServer & Lends,
    private readonly notice: (text: string) => void,
  ) {
    this.workers = new Workers((request) => server.local(request));
    const line = el("div", { hidden: true });
    const size = (way: string) =>
      this.box.checked ? this.workers.known.get(way)?.size : undefined;
    this.weights = new Weights(line, this.workers, direction, size);
    this.row = el("div", { class: "compute-here" }, el("label", {}, this.box, this.says), line);
    this.server = this.either(server);
    this.box.checked = canCompute() && recall(KEY) === "1";
    this.box.disabled = !canCompute();
    this.listen();
    this.speak();
  }

  /** Whether a translation in this direction is computed here. */
  takes(way: string): boolean {
    return this.box.checked && !this.workers.known.get(way)?.uncovered;
  }

  /** Translate what the fields hold; `take` is told as a server would tell it. */
  async translate(run: number, take: (message: never) => void): Promise<void> {
    this.stop();
    const { signal } = (this.stopper = new AbortController());
    const text = field("source-text")?.value ?? "";
    const settings = usedSettings(settingText("method"), (each) =>
      valueIn(settingText(each.name), each),
    );
    const wanted = { run, direction: direction(), text, settings };
    const send = (message: object) => take(message as never);
    this.working = true;
    const trace = await translateHere(
      this.workers,
      this.weights,
      wanted,
      signal,
      send,
      () => this.weights.progress,
    );
    if (!signal.aborted) this.working = false;
    if (!trace) return void this.look();
    const n = Math.round(((trace.seconds ?? 0) * 1000) / trace.tgt.length);
    if (n > SLOW)
      this.notice(
        t("This machine takes {n} ms a token. The server may be faster: see Settings.", { n }),
      );
  }

  stop(): void {
    this.stopper.abort();
    this.working = false;
  }

  private listen(): void {
    this.box.addEventListener("change", () => {
      remember(KEY, this.box.checked ? "1" : "0");
      if (!this.box.checked) this.stop();
      void this.look(this.box.checked);
    });
    document.addEventListener("change", (event) => {
      if ((event.target as Element).closest("#direction")) void this.look();
    });
    document.addEventListener("focusin", (event) => {
      const typed = event.isTrusted && (event.target as Element).closest("#source-text");
      if (typed && this.takes(direction())) this.weights.prepare(direction());
    });
    addEventListener("explorer-language", () => this.speak());
  }

  /** See whether the direction can be computed here, and `fetch` it if so wanted. */
  private async look(fetch = false): Promise<void> {
    const way = direction();
    try {
      if (this.box.checked) await this.workers.look(way);
      if (fetch && this.takes(way)) await this.weights.ready(way);
    } catch {
      /* the line says it, or the next press */
    }
    this.speak();
  }

  private speak(): void {
    const why = this.workers.known.get(direction())?.uncovered;
    const said = this.box.disabled
      ? t("This browser cannot compute here: it has no WebAssembly SIMD. The server translates.")
      : this.box.checked && why
        ? cannot()
        : t(
            "Compute here: translations on this machine; what you type in the Explorer stays on it.",
          );
    write(this.says, said);
  }

  private either(server: ExplorerServer): ExplorerServer {
    const here = liveServer(
      this.workers,
      this.weights,
      () => this.workers.known.get(direction())!.shell,
    ) as unknown as ExplorerServer;
    const of = ({ direction: way, id }: { direction: string; id?: string }) =>
      this.takes(way) || id?.startsWith("live-") ? here : server;
    /** What the server alone works out: it is not told what is computed here. */
    const alone = async () => ({
      error: t("Only the server can compute this. Switch “Compute here” off in Settings."),
    });
    return {
      inspect: (request) => of(request).inspect(request),
      exact: (request) => of(request).exact(request),
      resume: (request) => of(request).resume(request),
      npz: (request) => of(request).npz(request),
      offline: (request) => of(request).offline(request),
      ...(server.left_out && {
        left_out: (request) => (of(request) === server ? server.left_out!(request) : alone()),
      }),
      ...(server.alti && {
        alti: (request) => (of(request) === server ? server.alti!(request) : alone()),
      }),
      ready: (request) => server.ready(request),
      gone: async () => !this.working && (await serverGone()),
    };
  }
}
