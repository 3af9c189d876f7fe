/* What of the shipped checkpoints needs no engine, for tests. */

import { readFileSync } from "node:fs";
import path from "node:path";
import type { Bundle, ConfigFile } from "../live/bundle";
import { Spelling } from "../live/decode/copying";
import { loadTokenizer } from "../live/text/load";
import { spelling } from "../live/text/spelling";
import type { TokenizerFile } from "../live/text/tokenizer";

const FOLDER = path.resolve(import.meta.dirname, "../../../checkpoints");

const read = <F>(direction: string, name: string): F =>
  JSON.parse(readFileSync(path.join(FOLDER, direction, name), "utf8"));

export const tokenizerFile = (direction: string, side: "src" | "tgt"): TokenizerFile =>
  read(direction, `${side}.json`);

const made = new Map<string, Bundle>();

/** A checkpoint whose model has sizes and no weights. */
export const withoutWeights = (direction: string): Bundle => {
  const before = made.get(direction);
  if (before) return before;
  const { name, languages, model, decode } = read<ConfigFile>(direction, "config.json");
  const tgt = loadTokenizer(tokenizerFile(direction, "tgt"));
  const bundle = {
    info: { name, sha256: "0".repeat(64), src: languages[0], tgt: languages[1] },
    model: { config: model },
    src: loadTokenizer(tokenizerFile(direction, "src")),
    tgt,
    decode,
    spelling: () => new Spelling(spelling(tgt)),
  } as unknown as Bundle;
  made.set(direction, bundle);
  return bundle;
};
