/* The worker's side of the calls: one checkpoint or two in memory, one piece of work at a time. */

import type { Bundle } from "./bundle";
import type { Calls, LabAsked, Name, Past, Reply } from "./calls";
import { fetchCheckpoint, filesOf, type Manifest } from "./checkpoint";
import { foreign } from "./foreign";
import { board, switched, whole } from "./lab";
import { npz } from "./npz";
import { Cancelled, Refusal } from "./refusal";
import { makeRequest } from "./request";
import { health, payload, split, stream } from "./session";
import { areKept, Lost } from "./store";
import type { Trace } from "./trace";
import { view } from "./views";

const IN_MEMORY = 2;
const KEPT_TRACES = 4;

/** What a piece of work may do while it runs. */
interface Work {
  signal: AbortSignal;
  tell: (reply: Tell) => void;
}

type Tell = { kind: "progress"; received: number; size: number } | { kind: "step"; value: unknown };

type Answers = {
  [N in Name]: (given: Calls[N]["given"], work: Work) => Promise<Calls[N]["gives"]>;
};

/** Answers calls; `reply` sends to the page. */
export class Desk {
  private readonly bundles = new Map<string, Promise<Bundle>>();
  private readonly traces = new Map<string, { direction: string; trace: Trace }>();
  private readonly running = new Map<number, AbortController>();
  private last: Promise<unknown> = Promise.resolve();
  private made = 0;

  constructor(
    private readonly manifest: Manifest,
    private readonly reply: (reply: Reply) => void,
  ) {}

  /** The call of this number is not wanted any more. */
  cancel(id: number): void {
    this.running.get(id)?.abort(new Cancelled("it was stopped"));
  }

  /** Work on a call, after those that came before it. */
  async call<N extends Name>(id: number, name: N, given: Calls[N]["given"]): Promise<void> {
    const controller = new AbortController();
    this.running.set(id, controller);
    const { signal } = controller;
    const tell = (reply: Tell) => this.reply({ id, ...reply } as Reply);
    const before = this.last;
    const done = (async () => {
      await before;
      signal.throwIfAborted();
      return this.answers[name](given, { signal, tell });
    })();
    this.last = done.catch(() => undefined);
    try {
      this.reply({ id, kind: "done", value: await done });
    } catch (error) {
      if (signal.aborted) return this.reply({ id, kind: "cancelled" });
      const told = error instanceof Refusal;
      const text = told ? error.message : `this page failed: ${String(error)}`;
      this.reply({ id, kind: "refused", text, again: !told || error instanceof Lost });
      if (!told) console.error(error);
    } finally {
      this.running.delete(id);
    }
  }

  private readonly answers: Answers = {
    load: async ({ direction }, work) => ({
      bytes: (await this.bundle(direction, work)).model.bytes,
    }),
    recall: async ({ direction }, work) => {
      const known = Object.hasOwn(this.manifest.checkpoints, direction);
      if (known && (await areKept(filesOf(this.manifest, direction))))
        await this.bundle(direction, work);
      return {};
    },
    stream: async ({ direction, text, settings, prefix }, work) => {
      const bundle = await this.bundle(direction, work);
      const trace = await this.listened(stream(bundle, { text, settings, prefix }), work, (value) =>
        work.tell({ kind: "step", value }),
      );
      return { ...payload(bundle, trace), id: this.keep(direction, trace), direction };
    },
    inspect: async ({ direction, text }, work) => {
      const bundle = await this.bundle(direction, work);
      const seems = foreign(this.manifest.directions, bundle.info.src, text);
      return { ...health(bundle, text), split: split(bundle, text), ...seems };
    },
    exact: async (past, work) => {
      const [bundle, trace] = await this.past(past, work);
      return { ...payload(bundle, trace, past.encoding ?? "f32"), direction: past.direction };
    },
    npz: async (past, work) => npz(...(await this.past(past, work))),
    positions: async ({ direction }, work) => {
      const { model } = await this.bundle(direction, work);
      return { table: model.positions, width: model.config.d_model };
    },
    board: async ({ kind, ...asked }, work) => {
      const [bundle, trace] = await this.greedy(asked, work);
      return this.listened(board(bundle, trace, kind), work);
    },
    switch: async ({ gates, ...asked }, work) => {
      const [bundle, trace] = await this.greedy(asked, work);
      return switched(bundle, trace, gates);
    },
    view: async ({ view: name, options, ...asked }, work) => {
      const [bundle, trace] = await this.greedy(asked, work);
      return view(bundle, trace, name, options);
    },
  };

  /** Run a generator to its end; between two of its values the page may stop it. */
  private async listened<V, R>(
    steps: Generator<V, R>,
    { signal }: Work,
    hear: (value: V) => void = () => undefined,
  ): Promise<R> {
    try {
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
        hear(value);
        await breath();
        signal.throwIfAborted();
      }
    } finally {
      steps.return(undefined as never); // what it took of the engine's memory goes back
    }
  }

  /**
   * A checkpoint, fetched where it is not in memory; what was used longest ago makes room for it.
   */
  private async bundle(direction: string, work: Work): Promise<Bundle> {
    if (!Object.hasOwn(this.manifest.checkpoints, direction))
      throw new Refusal(
        `there is no direction '${direction.slice(0, 20)}'; there are ` +
          Object.keys(this.manifest.checkpoints).join(", "),
      );
    const found = this.bundles.get(direction) ?? this.fetched(direction, work);
    this.bundles.delete(direction);
    this.bundles.set(direction, found);
    for (const oldest of [...this.bundles.keys()].slice(0, -IN_MEMORY)) this.bundles.delete(oldest);
    try {
      return await found;
    } catch (error) {
      this.bundles.delete(direction);
      throw error;
    }
  }

  private fetched(direction: string, { signal, tell }: Work): Promise<Bundle> {
    const size = filesOf(this.manifest, direction).reduce((sum, file) => sum + file.size, 0);
    const progress = (received: number) => tell({ kind: "progress", received, size });
    return fetchCheckpoint(this.manifest, direction, { signal, progress });
  }

  private async past(
    { direction, text, settings, id, prefix }: Past,
    work: Work,
  ): Promise<[Bundle, Trace]> {
    const bundle = await this.bundle(direction, work);
    const kept = id === undefined ? undefined : this.traces.get(id);
    const same = kept?.direction === direction && kept.trace.request.source === text;
    return [
      bundle,
      same ? kept.trace : await this.listened(stream(bundle, { text, settings, prefix }), work),
    ];
  }

  /** The greedy translation of a text: one serves every question of the lab. */
  private async greedy({ direction, text }: LabAsked, work: Work): Promise<[Bundle, Trace]> {
    const bundle = await this.bundle(direction, work);
    const id = JSON.stringify(["lab", direction, text]);
    const kept = this.traces.get(id)?.trace;
    if (kept) return [bundle, kept];
    const trace = whole(bundle, makeRequest(bundle, text, { method: "greedy" }));
    this.keep(direction, trace, id);
    return [bundle, trace];
  }

  private keep(direction: string, trace: Trace, id = `live-${++this.made}`): string {
    this.traces.set(id, { direction, trace });
    for (const oldest of [...this.traces.keys()].slice(0, -KEPT_TRACES)) this.traces.delete(oldest);
    return id;
  }
}

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();
(channel.port1 as { unref?: () => void }).unref?.(); // Node would wait for it for ever

/**
 * Let messages in. A timer would wait four milliseconds; a port's message goes through the page's
 * thread in WebKit, and would wait there until a step is drawn. The first of both ends it.
 */
function breath(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(0);
    setTimeout(done);
  });
}
