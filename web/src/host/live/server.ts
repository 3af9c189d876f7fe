/* What the explorer and the lab ask a server for, answered by the worker: the names are the
   server's. */

import type { Kind } from "../../protocol/messages";
import { offlinePage } from "./offline";
import { Refused, Stopped, type Caller } from "./client";
import type { Weights } from "./weights";

type Asked = Record<string, unknown> & { text: string; direction: string };
type LabName = "board" | "switch" | "view";

/** {"error": …} rather than fail, as the server's functions answer. */
const told = async <R>(work: Promise<R>): Promise<R | { error: string; again: boolean }> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Stopped) return { error: "", again: true };
    return { error: (error as Error).message, again: error instanceof Refused && error.again };
  }
};

const base64 = async (data: Blob): Promise<string> => {
  const address = await new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result as string);
    reader.onerror = () => fail(reader.error as Error);
    reader.readAsDataURL(data);
  });
  return address.slice(address.indexOf(",") + 1);
};

const past = ({ text, direction, settings, id, prefix }: Asked) => ({
  text,
  direction,
  settings: (settings ?? {}) as object,
  ...(typeof id === "string" ? { id } : {}),
  ...(Array.isArray(prefix) ? { prefix: prefix as number[] } : {}),
});

/**
 * The functions of `server`; what needs the model waits for it. `shell`: where the offline page's
 * shell is.
 */
export const liveServer = (client: Caller, weights: Weights, shell: () => string) => {
  const stoppers = new Map<string, AbortController>();
  const lab = (name: LabName, { run, ...asked }: Asked, more: object) => {
    const stopper = new AbortController();
    const number = String(run ?? "");
    stoppers.set(number, stopper);
    const { text, direction } = asked;
    const work = async () => {
      await weights.ready(direction, stopper.signal);
      return client.call(name, { text, direction, ...more } as never, { signal: stopper.signal });
    };
    return told(work().finally(() => stoppers.delete(number)));
  };
  const again = async <N extends "exact" | "npz" | "stream">(name: N, asked: Asked) => {
    await weights.ready(asked.direction);
    return client.call(name, past(asked));
  };
  return {
    /** Nobody has to be there. */
    gone: async () => false,
    ready: async () => ({ state: "ready" }),
    /** While a person types: nothing is fetched for that. */
    inspect: async ({ text, direction }: Asked) => {
      await weights.underway(direction);
      return client.call("inspect", { text, direction });
    },
    exact: (asked: Asked) =>
      told(again("exact", asked).then((found) => ({ ...found, prefix: asked.prefix }))),
    resume: (asked: Asked) =>
      told(again("stream", asked).then((found) => ({ ...found, prefix: asked.prefix }))),
    npz: (asked: Asked) =>
      told(
        again("npz", asked).then(async (bytes) => ({
          base64: await base64(new Blob([bytes as Uint8Array<ArrayBuffer>])),
          type: "application/octet-stream",
        })),
      ),
    offline: (asked: Asked) =>
      told(
        again("exact", asked).then(async (payload) => ({
          base64: await base64(await offlinePage(payload, shell())),
          type: "text/html",
        })),
      ),
    lab_board: (asked: Asked) => lab("board", asked, { kind: asked.kind as Kind }),
    lab_switch: (asked: Asked) => lab("switch", asked, { gates: asked.gates }),
    lab_ask: (asked: Asked) =>
      lab("view", asked, { view: asked.view, options: asked.options ?? {} }),
    lab_stop: async ({ run }: Asked) => {
      stoppers.get(String(run))?.abort();
      return {};
    },
  };
};
