/* A checkpoint as a live page holds it: the model, both tokenizers and how they are used best. */

import type { Profile } from "../protocol/messages";
import { USUAL, type DecodeConfig } from "./decode/config";
import { Spelling } from "./decode/copying";
import type { ModelConfig } from "./engine/config";
import { Transformer } from "./engine/transformer";
import type { FiguresFile } from "./figures";
import { Refusal } from "./refusal";
import type { Coming } from "./store";
import { withCasing } from "./text/casing";
import { loadTokenizer } from "./text/load";
import { spelling as spellingOf } from "./text/spelling";
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
  /** What each token of the target adds to a text. */
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
  src: Coming<TokenizerFile>;
  tgt: Coming<TokenizerFile>;
  profile?: Coming<Profile>;
  figures?: Coming<FiguresFile>;
  weights: { sha256: string; size: number; fill: (file: Uint8Array) => Promise<void> | void };
}

/** Put the parts together; tokenizers are made while the weights come. */
export async function loadBundle(engine: WebAssembly.Module, parts: Parts): Promise<Bundle> {
  const { config, weights } = parts;
  const decode = { ...USUAL, ...config.decode };
  const [model, src, [tgt, spelling], profile, figures] = await Promise.all([
    load(engine, parts),
    tokenizer("source", parts.src, config.model.src_vocab).then(withCasing),
    tokenizer("target", parts.tgt, config.model.tgt_vocab).then((tgt) => {
      let spelt: Spelling | undefined;
      const spelling = () => (spelt ??= new Spelling(spellingOf(tgt)));
      if (decode.spans_from_source) spelling(); // the first translation will ask for it
      return [tgt, spelling] as const;
    }),
    parts.profile,
    parts.figures,
  ]);
  return {
    info: {
      name: config.name,
      sha256: weights.sha256,
      src: config.languages[0],
      tgt: config.languages[1],
    },
    model,
    src,
    tgt,
    decode,
    spelling,
    ...(profile ? { profile } : {}),
    ...(figures ? { figures } : {}),
  };
}

async function load(engine: WebAssembly.Module, { config, weights }: Parts): Promise<Transformer> {
  if (config.format !== 1)
    throw new Refusal(`config.json is of format ${config.format}; this page reads 1`);
  return Transformer.load(engine, config.model, weights.size, weights.fill);
}

async function tokenizer(
  side: "source" | "target",
  file: Coming<TokenizerFile>,
  wanted: number,
): Promise<Tokenizer> {
  const made = loadTokenizer(await file);
  if (made.size === wanted) return made;
  throw new Refusal(`the ${side} vocabulary has ${made.size} pieces, config.json says ${wanted}`);
}
