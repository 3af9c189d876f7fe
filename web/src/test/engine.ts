/* The checkpoint behind the messages in tests/protocol, and the engine of a live page, for
   tests. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Bundle, type ConfigFile, loadBundle, type Parts } from "../live/bundle";
import type { Manifest } from "../live/checkpoint";
import type { ModelConfig } from "../live/engine/config";
import { Transformer } from "../live/engine/transformer";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const PLACES = {
  engine: "translator/ui/static/live/engine.wasm",
  config: "tests/protocol/fixed/config.json",
  src: "tests/protocol/fixed/src.json",
  tgt: "tests/protocol/fixed/tgt.json",
  weights: "tests/protocol/fixed/model.safetensors",
};

/** The bytes of a file of the repository. */
export const bytesAt = (place: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(path.join(ROOT, place)));

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const parsed = (place: string) => JSON.parse(new TextDecoder().decode(bytesAt(place)));

/** What tests compare by: the largest difference between two lists of numbers. */
export const apart = (found: ArrayLike<number>, want: ArrayLike<number>): number => {
  if (found.length !== want.length) return Infinity;
  let most = 0;
  for (let i = 0; i < found.length; i++)
    if (!(Math.abs(found[i] - want[i]) <= most)) most = Math.abs(found[i] - want[i]);
  return most; // NaN if either is somewhere none
};

let engine: Promise<WebAssembly.Module> | undefined;
export const compiled = (): Promise<WebAssembly.Module> =>
  (engine ??= WebAssembly.compile(bytesAt(PLACES.engine)));

/** config.json as it is stored. */
export const fixedConfig = (): ConfigFile => parsed(PLACES.config);
export const fixedWeights = (): Uint8Array<ArrayBuffer> => bytesAt(PLACES.weights);

/** The files of the checkpoint, as `loadBundle` takes them. */
export const fixedParts = (more: Partial<Parts> = {}): Parts => {
  const file = fixedWeights();
  return {
    config: fixedConfig(),
    src: parsed(PLACES.src),
    tgt: parsed(PLACES.tgt),
    weights: { sha256: hash(file), size: file.length, fill: (room) => room.set(file) },
    ...more,
  };
};

export const fixedBundle = async (more?: Partial<Parts>): Promise<Bundle> =>
  loadBundle(await compiled(), fixedParts(more));

/** The model alone, by a config with some changes and by the weights of a file. */
export const fixedModel = async (
  changes: Partial<ModelConfig> = {},
  file: Uint8Array = fixedWeights(),
): Promise<Transformer> =>
  Transformer.load(await compiled(), { ...fixedConfig().model, ...changes }, file.length, (room) =>
    room.set(file),
  );

/** A site of checkpoints by these names, all of the same files. */
export const fixedSite = (...names: string[]): Manifest => {
  const entry = (place: string) => {
    const bytes = bytesAt(place);
    return { path: place, size: bytes.length, sha256: hash(bytes) };
  };
  const { engine, ...files } = PLACES;
  const checkpoint = () => ({
    config: entry(files.config),
    src: entry(files.src),
    tgt: entry(files.tgt),
    weights: entry(files.weights),
  });
  return {
    version: 1,
    engine: entry(engine),
    directions: names,
    checkpoints: Object.fromEntries(names.map((name) => [name, checkpoint()])),
  };
};
