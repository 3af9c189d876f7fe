/* A checkpoint of an exported site, fetched and put together. */

import type { Profile } from "../protocol/messages";
import { loadBundle, type Bundle, type ConfigFile } from "./bundle";
import type { FiguresFile } from "./figures";
import { fetchFile, fetchInto, type FileEntry, type Fetching } from "./store";
import { useCasing, type CasingFile } from "./text/casing";
import { chineseIsKnown, useChinese, type ChineseFile } from "./text/chinese";
import { languagesAreKnown, useLanguages, type LanguagesFile } from "./text/languages";
import type { TokenizerFile } from "./text/tokenizer";

/** What one checkpoint consists of. */
export interface CheckpointFiles {
  config: FileEntry;
  src: FileEntry;
  tgt: FileEntry;
  profile?: FileEntry;
  /** The lab's figures, where the page has a lab of its own. */
  figures?: FileEntry;
  /** The source's words with capitals, where its language has such a list. */
  casing?: FileEntry;
  /** Words for Chinese, where a side of it is. */
  chinese?: FileEntry;
  /** What tells the languages of the site apart, where there are several. */
  languages?: FileEntry;
  weights: FileEntry;
}

/** manifest.json of an exported site. */
export interface Manifest {
  version: number;
  engine: FileEntry;
  /** The same engine for browsers that multiply and add in one instruction. */
  relaxed?: FileEntry;
  /** Every direction of the page; those of a served page may be computed by the server. */
  directions: string[];
  checkpoints: Record<string, CheckpointFiles>;
}

/** The smallest module that needs relaxed SIMD: a function of one vector. */
const RELAXED = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15,
  65, 0, 253, 15, 65, 0, 253, 15, 253, 133, 2, 11,
];

/** Whether this browser multiplies and adds in one instruction, where the processor can. */
export const isRelaxed = (): boolean => WebAssembly.validate(new Uint8Array(RELAXED));

/** The engine that suits this browser. */
function engineOf({ engine, relaxed }: Manifest): FileEntry {
  return relaxed && isRelaxed() ? relaxed : engine;
}

/** Every file that a checkpoint needs. */
export function filesOf(manifest: Manifest, name: string): FileEntry[] {
  return [engineOf(manifest), ...Object.values(manifest.checkpoints[name]!)];
}

/**
 * Fetch what is missing, all files at once; `progress` is told the bytes that are here, of all
 * files together.
 */
export async function fetchCheckpoint(
  manifest: Manifest,
  name: string,
  { signal, progress }: Fetching,
): Promise<Bundle> {
  const received = new Map<FileEntry, number>();
  const stopper = new AbortController();
  const stop = () => stopper.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  const how = (file: FileEntry): Fetching => ({
    signal: stopper.signal,
    progress: (bytes) => {
      received.set(file, bytes);
      progress?.([...received.values()].reduce((a, b) => a + b, 0));
    },
  });
  try {
    return await putTogether(manifest, name, how);
  } catch (error) {
    stopper.abort(error); // without one file the others are not wanted
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * Everything is asked for at once. The weights wait for the engine's memory, and what else there is
 * to do is done while they come.
 */
async function putTogether(
  manifest: Manifest,
  name: string,
  how: (file: FileEntry) => Fetching,
): Promise<Bundle> {
  const files = manifest.checkpoints[name]!;
  const bytes = (file: FileEntry) => fetchFile(file, how(file));
  const parsed = async <T>(file: FileEntry) =>
    JSON.parse(new TextDecoder().decode(await bytes(file))) as T;
  const unpacked = async <T>(file: FileEntry) => {
    const packed = new Blob([await bytes(file)]).stream();
    return (await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json()) as T;
  };
  const { weights, profile, figures, casing, chinese, languages } = files;
  let give: (room: Uint8Array) => void;
  const memory = new Promise<Uint8Array>((done) => (give = done));
  const [engine, config] = [
    bytes(engineOf(manifest)).then((module) => WebAssembly.compile(module)),
    parsed<ConfigFile>(files.config),
  ];
  const parts = {
    src: parsed<TokenizerFile>(files.src),
    tgt: parsed<TokenizerFile>(files.tgt),
    ...(profile ? { profile: parsed<Profile>(profile) } : {}),
    ...(figures ? { figures: parsed<FiguresFile>(figures) } : {}),
  };
  const filled = fetchInto(memory, weights, how(weights));
  const fill = (room: Uint8Array) => {
    give(room);
    return filled;
  };
  const loaded = async () =>
    loadBundle(await engine, {
      config: await config,
      ...parts,
      weights: { sha256: weights.sha256, size: weights.size, fill },
    });
  const [bundle] = await Promise.all([
    loaded(),
    casing ? unpacked<CasingFile>(casing).then(useCasing) : undefined,
    chinese && !chineseIsKnown() ? unpacked<ChineseFile>(chinese).then(useChinese) : undefined,
    languages && !languagesAreKnown()
      ? unpacked<LanguagesFile>(languages).then(useLanguages)
      : undefined,
    // one that fails before it is waited for ends the others
    ...[filled, engine, config, ...Object.values(parts)],
  ]);
  return bundle;
}
