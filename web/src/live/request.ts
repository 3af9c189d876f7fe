/* What a translation is asked for, checked before the model runs: translator/request.py, in the
   same words. */

import { LIMITS } from "../protocol/registry";
import type { Bundle } from "./bundle";
import { decodeConfig, type DecodeConfig } from "./decode/config";
import { sourceSpans, SourceSpans } from "./decode/copying";
import { sourceNames } from "./decode/names";
import { checkTarget } from "./decode/steps";
import { Refusal } from "./refusal";
import { countCharacters } from "./text/characters";
import { isBlank, normaliseText } from "./text/normalise";
import { EOS, type Encoding } from "./text/tokenizer";

/** One sentence, checked and ready to decode. */
export interface Request {
  source: string;
  encoding: Encoding;
  srcIds: number[];
  config: DecodeConfig;
  maxLength: number;
  prefix: number[];
  spans: SourceSpans | null;
}

/** Tokens that a text may have, its end token included. */
export function sourceLimit({ model }: Bundle): number {
  const { padded_length, max_positions } = model.config;
  return Math.min(LIMITS.source_tokens, padded_length ?? max_positions);
}

function targetLimit({ model }: Bundle): number {
  return Math.min(LIMITS.target_tokens, model.config.max_positions);
}

/**
 * One sentence with its settings; `prefix` is what the translation must begin with, as text or ids.
 */
export function makeRequest(
  bundle: Bundle,
  text: string,
  settings: object,
  prefix: string | readonly number[] = [],
): Request {
  const config = decodeConfig(bundle.decode, settings);
  const most = targetLimit(bundle);
  if (config.max_length !== null && config.max_length > most)
    throw new Refusal(`max_length is ${config.max_length}; at most ${most} tokens are allowed`);
  checkText(bundle, text);
  const source = text.replace(/[\ud800-\udfff]/gu, "\ufffd");
  const encoding = bundle.src.encode(source);
  const srcIds = closed(
    bundle,
    encoding.tokens.map(({ id }) => id),
  );
  const forced = forcedIds(bundle, prefix);
  const usual = Math.min(2 * srcIds.length + 16, most);
  const maxLength = config.max_length ?? Math.max(usual, Math.min(forced.length + 16, most));
  checkTarget(bundle.model.config, forced, maxLength);
  const spans = spansOf(bundle, source, config);
  return { source, encoding, srcIds, config, maxLength, prefix: forced, spans };
}

/** What the translation of `text` may write of numbers and names, and which names it is to have. */
function spansOf(bundle: Bundle, text: string, config: DecodeConfig): SourceSpans | null {
  const { src, tgt } = bundle.info;
  const pieces = (word: string) => bundle.src.encode(word).tokens.length;
  const penalty = config.method === "beam" ? config.name_penalty : 0;
  const names = penalty ? sourceNames(bundle.spelling(), text, pieces, penalty) : null;
  if (config.spans_from_source) return sourceSpans(bundle.spelling(), text, src, tgt, names);
  return names && new SourceSpans(bundle.spelling(), null, null, names);
}

/** A given translation as ids: a text gets its end token, ids are taken as they are. */
export function targetIds(bundle: Bundle, target: string | readonly number[]): number[] {
  let ids = forcedIds(bundle, target);
  if (typeof target === "string") ids = isBlank(target) ? [] : [...ids, EOS];
  if (!ids.length) throw new Refusal("the target is blank: nothing to force");
  const limit = targetLimit(bundle);
  if (ids.length > limit)
    throw new Refusal(
      `the target has ${ids.length} tokens; at most ${limit} are allowed, so shorten it`,
    );
  checkTarget(bundle.model.config, ids, ids.length, "target");
  return ids;
}

/** The sentence with which a text will be refused, or "". */
export function problemOf(bundle: Bundle, text: string): string {
  if (isBlank(text)) return "";
  try {
    checkText(bundle, text);
    closed(bundle, bundle.src.ids(text));
    return "";
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Characters first, so that no long text is ever normalised, segmented or tokenised. */
function checkText(bundle: Bundle, text: string): void {
  checkLength("the text", text);
  if (isBlank(text)) throw new Refusal("nothing to translate: the text is blank");
  checkLength("the text, normalised,", normaliseText(text, bundle.src.config));
}

function checkLength(what: string, text: string): void {
  const count = countCharacters(text);
  if (count > LIMITS.characters)
    throw new Refusal(
      `${what} has ${count.toLocaleString("en")} characters; at most ` +
        `${LIMITS.characters.toLocaleString("en")} are allowed, so shorten it`,
    );
}

/** Source ids with their end token, if they are not too many. */
function closed(bundle: Bundle, ids: readonly number[]): number[] {
  if (!ids.length)
    throw new Refusal("nothing to translate: the text has no token that this checkpoint knows");
  const [count, limit] = [ids.length + 1, sourceLimit(bundle)];
  if (count > limit)
    throw new Refusal(`the text has ${count} tokens; at most ${limit} are allowed, so shorten it`);
  return [...ids, EOS];
}

function forcedIds(bundle: Bundle, tokens: string | readonly number[]): number[] {
  if (typeof tokens !== "string") return [...tokens];
  checkLength("the forced text", tokens);
  return bundle.tgt.ids(tokens);
}
