/* A checkpoint as a live page holds it: the model, both tokenizers and how they are used best. */

import type { Profile } from "../protocol/messages";
import { USUAL, type DecodeConfig } from "./decode/config";
import { Spelling } from "./decode/copying";
import type { ModelConfig } from "./engine/config";
import { Transformer } from "./engine/transformer";
import type { FiguresFile } from "./figures";
import { Refusal } from "./refusal";
import { loadTokenizer } from "./text/load";
import { spelling } from "./text/spelling";
import type { Tokenizer, TokenizerFile } from "./text/tokenizer";

/** config.json of a checkpoint. */
export interface ConfigFile {
  format: number;
  name: string;
  languages: [source: string, target: string];
  dtype: "float16" | "float32";
  model: ModelConfig;
  decode: DecodeConfig;
}

/** What identifies a checkpoint; see trace.py's CheckpointId. */
export interface CheckpointId {
  name: string;
  sha256: string;
  src: string;
  tgt: string;
}

export interface Bundle {
  info: CheckpointId;
  model: Transformer;
  src: Tokenizer;
  tgt: Tokenizer;
  decode: DecodeConfig;
  /** What each token of the target adds to a text; made when it is first asked for. */
  spelling: () => Spelling;
  profile?: Profile;
  /** The lab's figures, to be filled in. */
  figures?: FiguresFile;
}

/**
 * The parts of a checkpoint as they were fetched; `fill` writes the weights into the memory that it
 * is given.
 */
export interface Parts {
  config: ConfigFile;
  src: TokenizerFile;
  tgt: TokenizerFile;
  profile?: Profile;
  figures?: FiguresFile;
  weights: { sha256: string; size: number; fill: (file: Uint8Array) => Promise<void> | void };
}

/** Put the parts together. */
export async function loadBundle(engine: WebAssembly.Module, parts: Parts): Promise<Bundle> {
  const { config, weights } = parts;
  if (config.format !== 1)
    throw new Refusal(`config.json is of format ${config.format}; this page reads 1`);
  const [src, tgt] = [loadTokenizer(parts.src), loadTokenizer(parts.tgt)];
  for (const [side, size, wanted] of [
    ["source", src.size, config.model.src_vocab],
    ["target", tgt.size, config.model.tgt_vocab],
  ] as const)
    if (size !== wanted)
      throw new Refusal(`the ${side} vocabulary has ${size} pieces, config.json says ${wanted}`);
  let spelt: Spelling | undefined;
  return {
    info: {
      name: config.name,
      sha256: weights.sha256,
      src: config.languages[0],
      tgt: config.languages[1],
    },
    model: await Transformer.load(engine, config.model, weights.size, weights.fill),
    src,
    tgt,
    decode: { ...USUAL, ...config.decode },
    spelling: () => (spelt ??= new Spelling(spelling(tgt))),
    ...(parts.profile ? { profile: parts.profile } : {}),
    ...(parts.figures ? { figures: parts.figures } : {}),
  };
}
