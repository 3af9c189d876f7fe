import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CANNOT, canCompute, Client, Refused, Stopped } from "./client";

interface Posted {
  id: number;
  name?: string;
  cancel?: number;
}
/** A worker that does what a test says. */
class Fake {
  static made: Fake[] = [];
  posted: Posted[] = [];
  ended = false;
  onmessage: (event: { data: object }) => void = () => undefined;
  onerror: (event: { preventDefault: () => void }) => void = () => undefined;
  constructor() {
    Fake.made.push(this);
  }
  postMessage(message: Posted) {
    this.posted.push(message);
  }
  terminate() {
    this.ended = true;
  }
  says(data: object) {
    this.onmessage({ data });
  }
}

beforeEach(() => {
  Fake.made = [];
  vi.stubGlobal("Worker", Fake);
});
afterEach(() => vi.unstubAllGlobals());

const made = () => new Client("worker.js", "manifest.json");
const load = (client: Client, listening = {}) => client.call("load", { direction: "a" }, listening);

describe("calls of a worker", () => {
  it("are answered each by its own number, whatever comes first", async () => {
    const client = made();
    const [first, second] = [load(client), load(client)];
    const [worker] = Fake.made;
    expect(Fake.made).toHaveLength(1);
    const [a, b] = worker!.posted.map(({ id }) => id);
    expect(a).not.toBe(b);
    worker!.says({ id: b, kind: "done", value: { bytes: 2 } });
    worker!.says({ id: a, kind: "done", value: { bytes: 1 } });
    expect([await first, await second]).toEqual([{ bytes: 1 }, { bytes: 2 }]);
  });

  it("hear steps and progress meanwhile", async () => {
    const [step, progress] = [vi.fn(), vi.fn()];
    const answer = load(made(), { step, progress });
    const [{ posted }] = Fake.made as [Fake];
    const { id } = posted[0]!;
    Fake.made[0]!.says({ id, kind: "progress", received: 3, size: 9 });
    Fake.made[0]!.says({ id, kind: "step", value: { index: 0 } });
    Fake.made[0]!.says({ id, kind: "done", value: { bytes: 9 } });
    await answer;
    expect(progress).toHaveBeenCalledExactlyOnceWith(3, 9);
    expect(step).toHaveBeenCalledExactlyOnceWith({ index: 0 });
  });

  it("fail as the worker says", async () => {
    const answer = load(made());
    const { id } = Fake.made[0]!.posted[0]!;
    Fake.made[0]!.says({ id, kind: "refused", text: "too long", again: true });
    await expect(answer).rejects.toMatchObject({
      name: "Refused",
      message: "too long",
      again: true,
    });
  });

  it("that are stopped cancel the work, and what comes late is nothing to them", async () => {
    const stopper = new AbortController();
    const answer = load(made(), { signal: stopper.signal });
    const [worker] = Fake.made as [Fake];
    const { id } = worker.posted[0]!;
    stopper.abort();
    await expect(answer).rejects.toBeInstanceOf(Stopped);
    expect(worker.posted.at(-1)).toEqual({ cancel: id });
    worker.says({ id, kind: "done", value: { bytes: 1 } });
  });

  it("that were stopped before they began ask nobody", async () => {
    await expect(load(made(), { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(Stopped);
    expect(Fake.made).toHaveLength(0);
  });

  it("all fail where the worker does, and the next one has a worker of its own", async () => {
    const client = made();
    const answers = [load(client), load(client)];
    Fake.made[0]!.onerror({ preventDefault: () => undefined });
    for (const answer of answers) await expect(answer).rejects.toBeInstanceOf(Refused);
    void load(client).catch(() => undefined);
    expect(Fake.made).toHaveLength(2);
  });

  it("are told when the worker is ended", async () => {
    const client = made();
    const answer = load(client);
    client.close();
    await expect(answer).rejects.toBeInstanceOf(Stopped);
    expect(Fake.made[0]!.ended).toBe(true);
  });

  it("are refused before any byte is fetched where there is no SIMD", async () => {
    vi.stubGlobal("WebAssembly", { validate: () => false });
    expect(canCompute()).toBe(false);
    await expect(load(made())).rejects.toMatchObject({ message: CANNOT, again: false });
    expect(Fake.made).toHaveLength(0);
  });
});

it("this machine can compute, and a browser without workers cannot", () => {
  expect(canCompute()).toBe(true);
  vi.stubGlobal("Worker", undefined);
  expect(canCompute()).toBe(false);
});
