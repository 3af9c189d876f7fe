/* What a checkpoint's config.json says of its model, and what of that the engine computes. */

import { Refusal } from "../refusal";

/** `translator.config.ModelConfig` as config.json holds it; training's settings are left out. */
export interface ModelConfig {
  src_vocab: number;
  tgt_vocab: number;
  d_model: number;
  d_ff: number;
  decoder_d_ff: number | null;
  encoder_layers: number;
  decoder_layers: number;
  encoder_heads: number;
  decoder_heads: number;
  d_head: number | null;
  norm: "pre" | "post";
  final_norm: boolean;
  norm_eps: number;
  norm_variant: "standard" | "unbiased";
  norm_bias: boolean;
  embedding_norm: boolean;
  positions: "interleaved" | "concatenated" | "learned";
  max_positions: number;
  first_position: number;
  activation: "relu" | "gelu" | "silu" | "none";
  qkv_bias: boolean;
  out_bias: boolean;
  ff_bias: boolean;
  output_bias: boolean;
  embeddings: "separate" | "tied" | "shared";
  scale_embeddings: boolean;
  padded_length: number | null;
  banned_ids: number[] | null;
  banned_sequences: number[][];
  min_length?: number; // older checkpoints do not name it
  masked_ids: number[];
  pad_id: number;
  start_id: number;
  eos_id: number;
}

/** In the order of the engine's enums. */
export const ACTIVATIONS = ["relu", "gelu", "silu", "none"] as const;

/** The widest row of a matrix that the engine has room for. */
export const WIDEST = 16384;

const CHOICES: Partial<Record<keyof ModelConfig, readonly string[]>> = {
  norm: ["pre", "post"],
  norm_variant: ["standard", "unbiased"],
  positions: ["interleaved", "concatenated", "learned"],
  activation: ACTIVATIONS,
  embeddings: ["separate", "tied", "shared"],
};

/** The width of one head's query, key and value. */
export function headSize(config: ModelConfig, heads: number): number {
  return config.d_head ?? config.d_model / heads;
}

/** The inner width of the decoder's feed-forward layers. */
export function decoderWidth(config: ModelConfig): number {
  return config.decoder_d_ff ?? config.d_ff;
}

/** Refuses by name what the engine does not compute. */
export function checkConfig(config: ModelConfig): void {
  for (const [name, known] of Object.entries(CHOICES)) {
    const value = config[name as keyof ModelConfig];
    if (!known.includes(String(value)))
      throw new Refusal(`${name} is '${String(value)}'; this page computes ${known.join(", ")}`);
  }
  const widths = {
    d_model: config.d_model,
    d_ff: config.d_ff,
    decoder_d_ff: decoderWidth(config),
    "encoder_heads × d_head": config.encoder_heads * headSize(config, config.encoder_heads),
    "decoder_heads × d_head": config.decoder_heads * headSize(config, config.decoder_heads),
  };
  for (const [name, width] of Object.entries(widths)) {
    if (width > WIDEST)
      throw new Refusal(`${name} is ${width}; this page computes widths up to ${WIDEST}`);
  }
}
