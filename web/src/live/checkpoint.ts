/* A checkpoint of an exported site, fetched and put together. */

import type { Profile } from "../protocol/messages";
import { loadBundle, type Bundle, type ConfigFile } from "./bundle";
import type { FiguresFile } from "./figures";
import { fetchFile, fetchInto, type FileEntry, type Fetching } from "./store";
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
  /** Every direction of the page; those of a served page may be computed by the server. */
  directions: string[];
  checkpoints: Record<string, CheckpointFiles>;
}

/** Every file that a checkpoint needs. */
export function filesOf(manifest: Manifest, name: string): FileEntry[] {
  return [manifest.engine, ...Object.values(manifest.checkpoints[name]!)];
}

/** Fetch what is missing; `progress` is told the bytes that are here, of all files together. */
export async function fetchCheckpoint(
  manifest: Manifest,
  name: string,
  { signal, progress }: Fetching,
): Promise<Bundle> {
  const files = manifest.checkpoints[name]!;
  const received = new Map<FileEntry, number>();
  const how = (file: FileEntry): Fetching => ({
    ...(signal ? { signal } : {}),
    progress: (bytes) => {
      received.set(file, bytes);
      progress?.([...received.values()].reduce((a, b) => a + b, 0));
    },
  });
  const parsed = async <T>(file: FileEntry) =>
    JSON.parse(new TextDecoder().decode(await fetchFile(file, how(file)))) as T;
  const engine = await WebAssembly.compile(await fetchFile(manifest.engine, how(manifest.engine)));
  const [config, src, tgt, profile, figures] = await Promise.all([
    parsed<ConfigFile>(files.config),
    parsed<TokenizerFile>(files.src),
    parsed<TokenizerFile>(files.tgt),
    files.profile && parsed<Profile>(files.profile),
    files.figures && parsed<FiguresFile>(files.figures),
  ]);
  const unpacked = async <T>(file: FileEntry) => {
    const packed = new Blob([await fetchFile(file, how(file))]).stream();
    return (await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json()) as T;
  };
  if (files.chinese && !chineseIsKnown()) useChinese(await unpacked<ChineseFile>(files.chinese));
  if (files.languages && !languagesAreKnown())
    useLanguages(await unpacked<LanguagesFile>(files.languages));
  const { weights } = files;
  const fill = (room: Uint8Array) => fetchInto(room, weights, how(weights));
  return loadBundle(engine, {
    config,
    src,
    tgt,
    ...(profile ? { profile } : {}),
    ...(figures ? { figures } : {}),
    weights: { sha256: weights.sha256, size: weights.size, fill },
  });
}
