/* The tokenizer that a file describes. */

import { Refusal } from "../refusal";
import { SubwordTokenizer } from "./subword";
import type { Tokenizer, TokenizerFile } from "./tokenizer";
import { VocabularyTokenizer } from "./vocabulary";

/** The levels that a live page tokenizes. */
export const LEVELS = ["subword", "word", "char"] as const;

export function loadTokenizer(file: TokenizerFile): Tokenizer {
  const { level } = file.config;
  if (level === "subword") return new SubwordTokenizer(file);
  if (level === "word" || level === "char") return new VocabularyTokenizer(file);
  throw new Refusal(
    `the vocabulary's level is '${level}'; this page tokenizes ${LEVELS.join(", ")}`,
  );
}
