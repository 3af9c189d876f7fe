import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { areKept, fetchFile, fetchInto, Lost, megabytes, type FileEntry } from "./store";

const PART = 2 ** 22;
/** `Uint8Array.from` takes a second for what a loop fills at once. */
const filled = (length: number, byte: (at: number) => number) => {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = byte(at);
  return bytes;
};
const BYTES = filled(PART + 1000, (at) => at * 31 + (at >> 8));
const entry = (bytes: Uint8Array = BYTES): FileEntry => ({
  path: "weights.bin",
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** What a browser keeps, for one test. */
const makeCaches = () => {
  const held = new Map<string, Uint8Array<ArrayBuffer>>();
  const cache = {
    match: async (key: string) => {
      const bytes = held.get(key);
      return bytes && { arrayBuffer: async () => bytes.slice().buffer };
    },
    put: async (key: string, answer: Response) =>
      void held.set(key, new Uint8Array(await answer.arrayBuffer())),
    delete: async (key: string) => held.delete(key),
  };
  return { held, caches: { open: async () => cache } };
};

/** One answer of a host: bytes from `start` on, `until` where the line breaks. */
interface Line {
  bytes?: Uint8Array;
  until?: number;
  status?: number;
}
/** A host that answers each request as one of the lines says, and tells what was asked. */
const host = (...lines: Line[]) => {
  const ranges: (string | undefined)[] = [];
  vi.stubGlobal("fetch", async (_: string, { headers }: { headers: Record<string, string> }) => {
    ranges.push(headers.Range);
    const { bytes = BYTES, until, status } = lines[Math.min(ranges.length, lines.length) - 1]!;
    const asked = Number(/bytes=(\d+)-/.exec(headers.Range ?? "")?.[1] ?? 0);
    const start = status === 200 ? 0 : asked;
    let at = start;
    const read = async () => {
      if (until !== undefined && at >= until) throw new TypeError("network error");
      if (at >= bytes.length) return { done: true };
      const value = bytes.subarray(at, Math.min(at + 2 ** 20, until ?? bytes.length));
      at += value.length;
      return { done: false, value };
    };
    const reader = { read, cancel: async () => undefined };
    return { status: status ?? (asked ? 206 : 200), body: { getReader: () => reader } };
  });
  return ranges;
};

let held: Map<string, Uint8Array>;
beforeEach(() => {
  const made = makeCaches();
  held = made.held;
  vi.stubGlobal("caches", made.caches);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a file", () => {
  it("comes whole with its bytes told, is kept, and is not asked for again", async () => {
    const ranges = host({});
    const told: number[] = [];
    expect(await areKept([entry()])).toBe(false);
    const found = await fetchFile(entry(), { progress: (n) => told.push(n) });
    expect(Buffer.compare(found, BYTES)).toBe(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(BYTES.length);
    expect(await areKept([entry()])).toBe(true);
    expect(Buffer.compare(await fetchFile(entry()), BYTES)).toBe(0);
    expect(ranges).toEqual([undefined]);
  });

  it("goes on from where the line broke, and from the last whole part in a later visit", async () => {
    vi.useFakeTimers();
    const ranges = host({ until: PART + 10 }, { until: PART + 10 });
    const failed = fetchFile(entry()).catch((error: Error) => error);
    await vi.runAllTimersAsync();
    expect(await failed).toBeInstanceOf(Lost);
    expect(((await failed) as Error).message).toContain("4.2 of 4.2 MB");
    expect(ranges).toEqual([undefined, ...Array(4).fill(`bytes=${PART + 10}-`)]);
    const later = host({});
    expect(Buffer.compare(await fetchFile(entry()), BYTES)).toBe(0);
    expect(later).toEqual([`bytes=${PART}-`]);
  });

  it("begins anew where a host knows no ranges", async () => {
    vi.useFakeTimers();
    const ranges = host({ until: PART + 10 }, { status: 200 });
    const coming = fetchFile(entry());
    await vi.runAllTimersAsync();
    expect(Buffer.compare(await coming, BYTES)).toBe(0);
    expect(ranges).toHaveLength(2);
  });

  it("with other bytes is fetched once more, then refused, and nothing of it is kept", async () => {
    const wrong = BYTES.slice();
    wrong[5]! ^= 1;
    const ranges = host({ bytes: wrong });
    await expect(fetchFile(entry())).rejects.toThrow("weights.bin is damaged");
    expect(ranges).toEqual([undefined, undefined]);
    expect(held.size).toBe(0);
    host({ bytes: wrong }, {});
    expect(Buffer.compare(await fetchFile(entry()), BYTES)).toBe(0);
  });

  it("is read in several parts at once, before there is room for it", async () => {
    const long = filled(5 * PART + 9, (at) => at >> 7);
    host({ bytes: long });
    await fetchFile(entry(long));
    let asked = 0;
    const { open } = caches as unknown as { open: () => Promise<{ match: Match }> };
    type Match = (key: string) => Promise<unknown>;
    const cache = await open();
    const match: Match = (key) => cache.match(key).finally(() => void asked++);
    vi.stubGlobal("caches", { open: async () => ({ ...cache, match }) });
    let give: (room: Uint8Array) => void;
    const room = new Promise<Uint8Array>((done) => (give = done));
    const coming = fetchInto(room, entry(long));
    await vi.waitFor(() => expect(asked).toBe(1 + 4)); // is it whole, and four parts
    const found = new Uint8Array(long.length);
    give!(found);
    await coming;
    expect(Buffer.compare(found, long)).toBe(0);
    expect(asked).toBe(1 + 6);
  });

  it("whose parts cannot be read any more comes again", async () => {
    host({});
    await fetchFile(entry());
    const match = async () => Promise.reject(new Error("the disk"));
    const put = async () => undefined;
    vi.stubGlobal("caches", { open: async () => ({ match, put }) });
    const ranges = host({});
    expect(Buffer.compare(await fetchFile(entry()), BYTES)).toBe(0);
    expect(ranges).toEqual([undefined]);
  });

  it("that is longer than published, or not there, is refused", async () => {
    const short = BYTES.slice(0, 100);
    host({ bytes: BYTES.slice(0, 101) });
    await expect(fetchFile(entry(short))).rejects.toThrow("longer than the 100 bytes");
    host({ status: 404 });
    await expect(fetchFile(entry(short))).rejects.toThrow("the host answered 404");
  });

  it("comes without a place to keep it, too", async () => {
    const none = { open: async () => Promise.reject(new Error("private")) };
    vi.stubGlobal("caches", none);
    host({});
    expect(Buffer.compare(await fetchFile(entry()), BYTES)).toBe(0);
    expect(await areKept([entry()])).toBe(false);
  });

  it("that nobody wants any more is not asked for again", async () => {
    vi.useFakeTimers();
    const stopper = new AbortController();
    const ranges = host({ until: 0 });
    const coming = fetchFile(entry(), { signal: stopper.signal }).catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(100);
    stopper.abort(new Error("stopped"));
    expect(await coming).toEqual(new Error("stopped"));
    await vi.runAllTimersAsync();
    expect(ranges).toHaveLength(1);
  });
});

it("bytes are told in millions", () => expect(megabytes(26_235_104)).toBe("26.2"));
