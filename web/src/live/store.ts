/* Files of a checkpoint: fetched in parts that are kept, so that a lost download goes on and a
 * second visit asks nobody.
 *
 * Parts lie in Cache Storage by the file's hash. A whole file is checked against that hash once,
 * and a mark is kept.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Refusal } from "./refusal";

/** A file of an exported site, as its manifest has it. */
export interface FileEntry {
  path: string;
  size: number;
  sha256: string;
}

export interface Fetching {
  signal?: AbortSignal;
  /** Told how many bytes of the file are here. */
  progress?: (received: number) => void;
}

/** What is here, or is on its way. */
export type Coming<T> = T | Promise<T>;

/** The connection was lost for good; what came is kept. */
export class Lost extends Refusal {
  override name = "Lost";
}

export const CACHE = "attention-explorer-weights";
const PART = 2 ** 22;
/** Parts that are read at once: in WebKit each question goes through the page's thread. */
const AHEAD = 4;
const TRIES = 4;
const PAUSE = 500; // ms, twice as long after each try

/**
 * Fetch a file into `room`, which has its size and may come later than the file's first bytes; what
 * is here already is not asked for again.
 */
export async function fetchInto(
  room: Coming<Uint8Array>,
  file: FileEntry,
  how: Fetching = {},
): Promise<void> {
  const kept = await Kept.open(file);
  for (let attempt = 0; ; attempt++) {
    const whole = kept.isWhole(); // asked before: an answer waits for the page's thread
    await arrive(room, file, kept, how);
    if (await whole) return;
    if (digest(await room) === file.sha256) return kept.markWhole();
    await kept.remove();
    if (attempt)
      throw new Refusal(
        `${file.path} is damaged: its bytes are not those that were published; reload the page, or tell its owner`,
      );
  }
}

/** A small file as a whole. */
export async function fetchFile(
  file: FileEntry,
  how: Fetching = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const room = new Uint8Array(file.size);
  await fetchInto(room, file, how);
  return room;
}

function digest(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/**
 * All bytes, whatever it takes: what was kept, then the rest, again from where a connection was
 * lost.
 */
async function arrive(
  room: Coming<Uint8Array>,
  file: FileEntry,
  kept: Kept,
  how: Fetching,
): Promise<void> {
  let received = await kept.read(room);
  how.progress?.(received);
  for (let tries = 0; received < file.size;) {
    const before = received;
    try {
      received = await download(room, received, file, kept, how);
    } catch (error) {
      if (error instanceof Refusal || how.signal?.aborted) throw error;
      received = await kept.read(room);
    }
    if (received >= file.size) return;
    tries = received > before ? 0 : tries + 1;
    if (tries === TRIES)
      throw new Lost(
        `the connection was lost after ${megabytes(received)} of ${megabytes(file.size)} MB; what came is kept, try again to go on`,
      );
    await pause(PAUSE * 2 ** tries, how.signal);
  }
}

/** Read from `start` on as far as the connection lasts; how many bytes are here then. */
async function download(
  coming: Coming<Uint8Array>,
  start: number,
  file: FileEntry,
  kept: Kept,
  how: Fetching,
): Promise<number> {
  const { signal, progress } = how;
  const headers: HeadersInit = start ? { Range: `bytes=${start}-` } : {};
  const answer = await fetch(file.path, { headers, ...(signal ? { signal } : {}) });
  if (answer.status !== 206 && answer.status !== 200)
    throw new Refusal(`${file.path} is not available: the host answered ${answer.status}`);
  let at = answer.status === 206 ? start : 0; // a host without ranges begins anew
  const reader = answer.body!.getReader();
  try {
    const room = await coming;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return at;
      if (at + value.length > file.size)
        throw new Refusal(`${file.path} is longer than the ${file.size} bytes that were published`);
      room.set(value, at);
      const next = at + value.length;
      await kept.write(room, at, next);
      at = next;
      progress?.(at);
    }
  } catch (error) {
    if (error instanceof Refusal || signal?.aborted) throw error;
    return at; // lost half-way
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/**
 * What of one file lies in Cache Storage; a browser that has none, or no room in it, keeps nothing.
 */
class Kept {
  private constructor(
    private readonly file: FileEntry,
    private cache: Cache | undefined,
  ) {}

  static async open(file: FileEntry): Promise<Kept> {
    const cache = await globalThis.caches?.open(CACHE).catch(() => undefined);
    return new Kept(file, cache);
  }

  /** Copy the parts that are here, from the first on; how many bytes they are. */
  async read(coming: Coming<Uint8Array>): Promise<number> {
    const { size } = this.file;
    const asked: Promise<Uint8Array | undefined>[] = [];
    let received = 0;
    for (let next = 0; received < size;) {
      for (; asked.length < AHEAD && next * PART < size; next++) asked.push(this.part(next));
      const bytes = await asked.shift();
      if (bytes?.length !== Math.min(PART, size - received)) break;
      (await coming).set(bytes, received);
      received += bytes.length;
    }
    return received;
  }

  private async part(at: number): Promise<Uint8Array | undefined> {
    try {
      const found = await this.cache?.match(this.address(at));
      return found && new Uint8Array(await found.arrayBuffer());
    } catch {
      return undefined; // it is fetched
    }
  }

  /** Keep the parts that are whole now that bytes `from` up to `to` have come. */
  async write(room: Uint8Array, from: number, to: number): Promise<void> {
    const { size } = this.file;
    for (let part = Math.floor(from / PART); this.cache && part * PART < to; part++) {
      const end = Math.min((part + 1) * PART, size);
      if (to < end) break;
      const answer = new Response(room.slice(part * PART, end));
      // No room, or a private window: the visit goes on without.
      await this.cache.put(this.address(part), answer).catch(() => (this.cache = undefined));
    }
  }

  async isWhole(): Promise<boolean> {
    const mark = this.cache?.match(this.address("whole")).catch(() => undefined);
    return (await mark) !== undefined;
  }

  async markWhole(): Promise<void> {
    await this.cache?.put(this.address("whole"), new Response("")).catch(() => undefined);
  }

  async remove(): Promise<void> {
    for (let part = 0; part * PART < this.file.size; part++)
      await this.cache?.delete(this.address(part));
    await this.cache?.delete(this.address("whole"));
  }

  private address(part: number | string): string {
    return new URL(`weights/${this.file.sha256}/${part}`, globalThis.location.href).href;
  }
}

/** Whether all of these files are here already. */
export async function areKept(files: readonly FileEntry[]): Promise<boolean> {
  const kept = files.map(async (file) => (await Kept.open(file)).isWhole());
  return (await Promise.all(kept)).every(Boolean);
}

/** Bytes as a person reads them. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(signal.reason as Error);
    });
  });
}
