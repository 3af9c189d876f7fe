/* The page's side of the worker: calls that are numbered, answered in the end, and can be
   stopped. */

import type { Calls, Name, Reply } from "../../live/calls";
import type { StepPayload } from "../../protocol/messages";

/** What is heard while a call is worked on. */
export interface Listening {
  step?: (message: StepPayload) => void;
  progress?: (received: number, size: number) => void;
  signal?: AbortSignal;
}

/** The worker refused, in words for a person. */
export class Refused extends Error {
  override name = "Refused";
  constructor(
    message: string,
    /** Whether asking once more may help. */
    readonly again: boolean,
  ) {
    super(message);
  }
}

/** The call was stopped by this page. */
export class Stopped extends Error {
  override name = "Stopped";
}

interface Waiting extends Listening {
  done: (value: never) => void;
  fail: (error: Error) => void;
}

/** Whom a call can be asked of. */
export interface Caller {
  call<N extends Name>(
    name: N,
    given: Calls[N]["given"],
    listening?: Listening,
  ): Promise<Calls[N]["gives"]>;
}

/** What a browser that lacks something is told. */
export const CANNOT =
  "This browser cannot compute here: it has no WebAssembly SIMD. The examples can be explored.";

/** One worker, started with the first call. */
export class Client implements Caller {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private calls = 0;

  /** Addresses of the worker's script and of the manifest of what it computes with. */
  constructor(
    private readonly script: string,
    private readonly manifest: string,
  ) {}

  /** End the worker; whoever waits for it is told so. */
  close(): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const { fail } of this.waiting.values()) fail(new Stopped());
    this.waiting.clear();
  }

  call<N extends Name>(
    name: N,
    given: Calls[N]["given"],
    listening: Listening = {},
  ): Promise<Calls[N]["gives"]> {
    const id = ++this.calls;
    const { signal } = listening;
    return new Promise((done, fail) => {
      if (signal?.aborted) return fail(new Stopped());
      if (!canCompute()) return fail(new Refused(CANNOT, false)); // before any byte is fetched
      this.waiting.set(id, { ...listening, done, fail });
      const worker = (this.worker ??= this.start());
      const site = new URL(this.manifest, document.baseURI).href;
      worker.postMessage({ id, name, given, site });
      signal?.addEventListener("abort", () => {
        worker.postMessage({ cancel: id });
        this.waiting.delete(id);
        fail(new Stopped());
      });
    });
  }

  private start(): Worker {
    const worker = new Worker(new URL(this.script, document.baseURI), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.worker = undefined;
      const failed = new Refused("The engine did not start; reload the page.", true);
      for (const { fail } of this.waiting.values()) fail(failed);
      this.waiting.clear();
    };
    return worker;
  }

  private hear(reply: Reply): void {
    const call = this.waiting.get(reply.id);
    if (!call) return; // it was stopped
    if (reply.kind === "progress") return call.progress?.(reply.received, reply.size);
    if (reply.kind === "step") return call.step?.(reply.value);
    this.waiting.delete(reply.id);
    if (reply.kind === "done") call.done(reply.value as never);
    else if (reply.kind === "cancelled") call.fail(new Stopped());
    else call.fail(new Refused(reply.text, reply.again));
  }
}

/** The smallest module that needs SIMD: a function of one vector. */
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
];

/** Whether this browser can compute what the engine needs. */
export const canCompute = (): boolean => {
  try {
    return (
      typeof Worker === "function" &&
      typeof DecompressionStream === "function" &&
      WebAssembly.validate(new Uint8Array(SIMD))
    );
  } catch {
    return false;
  }
};
