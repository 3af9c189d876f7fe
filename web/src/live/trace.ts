/* One translation, whole: what was searched or forced, with every map: pipeline.py's
   `Translator`. */

import type { Bundle } from "./bundle";
import {
  best,
  type Beam,
  type Hypothesis,
  type IdStep,
  type Produced,
  type Ranked,
} from "./decode/steps";
import { search } from "./decode/search";
import { type Encoded, type Gates, padded } from "./engine/passes";
import type { Maps } from "./messages/heads";
import type { Request } from "./request";
import { EOS, PAD, type Token } from "./text/tokenizer";

/**
 * What a step thought: log-probability of what was chosen and entropy in nats, the best candidates,
 * the beams.
 */
export interface Thought {
  logProb: number;
  entropy: number;
  candidates: readonly Ranked[];
  beams: readonly Beam[];
}

/** Everything of one translation; axes as in trace.py's Trace. */
export interface Trace {
  request: Request;
  translation: string;
  src: Token[];
  start: Token;
  tgt: Token[];
  thoughts: Thought[];
  encoder: Maps;
  decoder: Maps;
  cross: Maps;
  truncated: boolean;
  /** Milliseconds that decoding took. */
  took: number;
}

/**
 * Translate; yields every step and returns the trace. The engine's memory is given back when it
 * ends, however.
 */
export function* translate(
  bundle: Bundle,
  request: Request,
  gates: Gates = {},
): Generator<IdStep, Trace> {
  const { heap } = bundle.model;
  const place = heap.exports.mark();
  let took = 0;
  let started = performance.now();
  try {
    const encoded = bundle.model.encode(request.srcIds, gates);
    const searching = search(bundle.model, encoded, { ...request, gates });
    const beams: (readonly Beam[])[] = [];
    for (;;) {
      const { done, value } = searching.next();
      if (done) {
        const trace = whole(bundle, request, encoded, value, beams, gates);
        return { ...trace, took: took + performance.now() - started };
      }
      beams.push(value.beams);
      took += performance.now() - started; // the listener's own time is not ours
      yield value;
      started = performance.now();
    }
  } finally {
    heap.exports.release(place);
  }
}

/** The trace of a given translation. */
export function force(
  bundle: Bundle,
  request: Request,
  ids: readonly number[],
  gates: Gates = {},
): Trace {
  const started = performance.now();
  const atLimit = request.config.force_eos && ids.length === request.maxLength;
  const truncated = atLimit || ids.at(-1) !== EOS;
  const given = { ids, truncated };
  const trace = bundle.model.heap.scoped(() => {
    const encoded = bundle.model.encode(request.srcIds, gates);
    return whole(bundle, request, encoded, given, [], gates);
  });
  return { ...trace, took: performance.now() - started };
}

/** Of what was found by a search, or else was given, and has to be read. */
function whole(
  bundle: Bundle,
  request: Request,
  encoded: Encoded,
  found: Pick<Hypothesis, "ids" | "truncated"> & Partial<Hypothesis>,
  beams: readonly (readonly Beam[])[],
  gates: Gates,
): Omit<Trace, "took"> {
  const { model, src, tgt } = bundle;
  const { ids, produced } = found;
  const [T, S] = [ids.length, encoded.length];
  const read = produced ? recorded(produced, S) : replayed(bundle, encoded, request, ids, gates);
  const layers = [model.config.decoder_layers, model.config.decoder_heads] as const;
  const padding = padded(request.srcIds, model.config).length - request.srcIds.length;
  return {
    request,
    translation: tgt.decode(ids),
    src: [
      ...request.encoding.tokens,
      src.token(EOS),
      ...new Array<Token>(padding).fill(src.token(PAD)),
    ],
    start: tgt.token(model.config.start_id),
    tgt: tgt.tokens(ids),
    thoughts: read.thoughts.map((thought, t) => ({ ...thought, beams: beams[t] ?? [] })),
    encoder: {
      values: encoded.weights,
      shape: [model.config.encoder_layers, model.config.encoder_heads, S, S],
    },
    decoder: { values: read.decoder, shape: [...layers, T, T] },
    cross: { values: read.cross, shape: [...layers, T, S] },
    truncated: found.truncated,
  };
}

interface Read {
  decoder: Float32Array;
  cross: Float32Array;
  thoughts: Thought[];
}

/**
 * The maps that a search saw itself: the decoder is causal, a step reads what the whole pass reads
 * in its row.
 */
function recorded(produced: readonly Produced[], S: number): Read {
  const T = produced.length;
  const heads = produced[0]!.own.length; // of all layers, as the first step reads one token
  const decoder = new Float32Array(heads * T * T);
  const cross = new Float32Array(heads * T * S);
  produced.forEach((step, t) => {
    for (let head = 0; head < heads; head++) {
      decoder.set(step.own.subarray(head * (t + 1), (head + 1) * (t + 1)), (head * T + t) * T);
      cross.set(step.cross.subarray(head * S, (head + 1) * S), (head * T + t) * S);
    }
  });
  const thoughts = produced.map(({ logProb, entropy, candidates }) => ({
    ...{ logProb, entropy, candidates },
    beams: [],
  }));
  return { decoder, cross, thoughts };
}

/** One teacher-forced pass over what was found. */
function replayed(
  { model }: Bundle,
  encoded: Encoded,
  { config }: Request,
  ids: readonly number[],
  gates: Gates,
): Read {
  const { decoder, cross, logProbs } = model.decode(encoded, ids, gates);
  const V = model.config.tgt_vocab;
  const thoughts = ids.map((id, t) => {
    const row = logProbs.subarray(t * V, (t + 1) * V);
    return {
      logProb: row[id]!,
      entropy: model.entropyOf(row),
      candidates: best(row, config.candidates),
      beams: [],
    };
  });
  return { decoder, cross, thoughts };
}
