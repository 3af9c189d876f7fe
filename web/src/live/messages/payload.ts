/* A translation as the explorer is told of it: the messages of translator/ui/payload.py. */

import type * as Protocol from "../../protocol/messages";
import type { Bundle } from "../bundle";
import type { Beam, IdStep } from "../decode/steps";
import { countCharacters } from "../text/characters";
import type { Tokenizer } from "../text/tokenizer";
import type { Request } from "../request";
import type { Thought, Trace } from "../trace";
import { headStats, leadingHead, selfRollout, type Measures } from "./heads";
import { plain } from "./label";
import { lowerTriangles, pack } from "./pack";
import { tokenMessage, wordsMessage } from "./tokens";

const TAIL = 60;

/** Of every map and each head: shapes, weights, measures, and the head to look at first. */
function mapsOf({ profile }: Bundle, trace: Trace, packing?: Protocol.Packing) {
  const { src, start, tgt, encoder, decoder, cross } = trace;
  const reads = [start, ...tgt.slice(0, -1)];
  const ofCross = { owners: tgt, queries: reads, keys: src };
  const stats = {
    encoder: headStats("encoder", encoder, { owners: src, queries: src, keys: src }),
    decoder: headStats("decoder", decoder, { owners: reads, queries: reads, keys: reads }),
    cross: headStats("cross", cross, ofCross, profile),
  };
  const [layer, head] = leadingHead(stats.cross, cross.shape[1], profile?.rates);
  // a copy: what is sent to the page takes the whole buffer that it lies in along
  const sent = (weights: ArrayLike<number>) =>
    packing ? pack(weights, packing) : Float32Array.from(weights);
  return {
    shapes: {
      encoder: [...encoder.shape],
      decoder: [...decoder.shape],
      cross: [...cross.shape],
    } as Protocol.TracePayload["shapes"],
    encoding: packing ?? "f32",
    weights: {
      encoder: sent(encoder.values),
      decoder: sent(lowerTriangles(decoder.values, tgt.length)),
      cross: sent(cross.values),
    },
    rollout: sent(selfRollout(encoder)),
    heads: {
      encoder: tableOf(stats.encoder),
      decoder: tableOf(stats.decoder),
      cross: tableOf(stats.cross),
    },
    leading: { layer, head },
  };
}

/** Everything the explorer needs of one translation; its weights as numbers, or packed as text. */
export function traceMessage(
  bundle: Bundle,
  trace: Trace,
  health: Protocol.Health,
  packing?: Protocol.Packing,
): Protocol.TracePayload {
  const { request, src, start, tgt } = trace;
  const reads = [start, ...tgt.slice(0, -1)];
  return {
    kind: "trace",
    source: request.source,
    normalised: request.encoding.normalised.text,
    translation: trace.translation,
    checkpoint: bundle.info,
    settings: request.config,
    truncated: trace.truncated,
    seconds: rounded(trace.took / 1000, 3),
    src: src.map(tokenMessage),
    start: tokenMessage(start),
    tgt: tgt.map(tokenMessage),
    words: {
      src: wordsMessage(src, request.source),
      reads: wordsMessage(reads, trace.translation),
      tgt: wordsMessage(tgt, trace.translation),
    },
    steps: trace.thoughts.map((thought, t) =>
      stepOf(
        thought,
        tgt.slice(0, t + 1).map(({ id }) => id),
        bundle.tgt,
      ),
    ),
    ...mapsOf(bundle, trace, packing),
    health,
    ...(bundle.profile ? { profile: bundle.profile } : {}),
    automatic: JSON.stringify(request.config) === JSON.stringify(bundle.decode),
    own: bundle.decode,
  };
}

/** One live step, which says by itself where it stands. */
export function stepMessage(
  bundle: Bundle,
  request: Request,
  step: IdStep,
  logProbs: readonly number[],
): Protocol.StepPayload {
  const { decoder_layers, decoder_heads } = bundle.model.config;
  const { name, src, tgt } = bundle.info;
  const { cross } = step.produced;
  const eos = bundle.src.token(bundle.model.config.eos_id);
  return {
    kind: "step",
    index: step.ids.length - 1,
    checkpoint: { name, src, tgt },
    log_probs: logProbs.map((value) => rounded(value, 5)),
    src: [...request.encoding.tokens, eos].map(tokenMessage),
    start: tokenMessage(bundle.tgt.token(bundle.model.config.start_id)),
    tgt: bundle.tgt.tokens(step.ids).map(tokenMessage),
    step: stepOf({ ...step.produced, beams: step.beams }, step.ids, bundle.tgt),
    shape: [decoder_layers, decoder_heads, cross.length / (decoder_layers * decoder_heads)],
    cross: pack(cross, "u16"),
    translation: bundle.tgt.decode(step.ids),
  };
}

function stepOf(thought: Thought, leading: readonly number[], tgt: Tokenizer): Protocol.Step {
  const candidates = thought.candidates.map(([id, logProb]) => ({
    ...tokenMessage(tgt.token(id)),
    lp: rounded(logProb, 5),
  }));
  const texts = thought.beams.map((beam) => plain(tgt.decode(beam.ids)));
  const told = texts.map((text, at) => `${String(thought.beams[at]!.ended)} ${text}`);
  const beams = thought.beams.map((beam, at) =>
    beamOf(beam, texts[at]!, leading, told.indexOf(told[at]!) < at),
  );
  return {
    lp: rounded(thought.logProb, 6),
    h: rounded(thought.entropy, 4),
    c: candidates,
    ...(beams.length ? { b: beams } : {}),
  };
}

function beamOf(
  beam: Beam,
  text: string,
  leading: readonly number[],
  again: boolean,
): Protocol.Hypothesis {
  const short = countCharacters(text) <= TAIL;
  const leads = beam.ids.length === leading.length && beam.ids.every((id, i) => id === leading[i]);
  return {
    s: short ? text : `…${[...text].slice(1 - TAIL).join("")}`,
    lp: rounded(beam.score, 4),
    n: rounded(beam.normalised, 4),
    p: beam.parent,
    ...(beam.ended ? { e: 1 as const } : {}),
    ...(leads ? { w: 1 as const } : {}),
    ...(again ? { x: 1 as const } : {}),
  };
}

function tableOf(stats: Measures): Protocol.HeadTable {
  const { role, near, reading, ...numbers } = stats;
  const short = Object.entries(numbers).map(([name, values]) => [
    name,
    values.map((value) => rounded(value, 4)),
  ]);
  type Numbers = Omit<Measures, "role" | "near" | "reading">;
  return { role, near, reading, ...(Object.fromEntries(short) as Numbers) };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
