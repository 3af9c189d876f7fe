/* What a page asks of a checkpoint, answered with the messages of a server:
   translator/ui/session.py. */

import type { Packing, Health, Piece, StepPayload, TracePayload } from "../protocol/messages";
import type { Bundle } from "./bundle";
import type { Gates } from "./engine/passes";
import { healthMessage, splitMessage } from "./messages/health";
import { stepMessage, traceMessage } from "./messages/payload";
import { makeRequest, problemOf, sourceLimit, targetIds } from "./request";
import { force, translate, type Trace } from "./trace";

/** A sentence and how it is to be translated; `prefix` is what the translation must begin with. */
export interface Asked {
  text: string;
  settings?: object;
  prefix?: string | readonly number[];
  gates?: Gates;
}

/**
 * One translation: a message a step, then the trace. A live beam search may lead with something
 * shorter: left out.
 */
export function* stream(bundle: Bundle, asked: Asked): Generator<StepPayload, Trace> {
  const request = makeRequest(bundle, asked.text, asked.settings ?? {}, asked.prefix);
  const translating = translate(bundle, request, asked.gates);
  const logProbs: number[] = [];
  let shown = 0;
  try {
    for (;;) {
      const { done, value } = translating.next();
      if (done) return value;
      if (value.ids.length <= shown) continue;
      shown = value.ids.length;
      logProbs.push(value.produced.logProb);
      yield stepMessage(bundle, request, value, logProbs);
    }
  } finally {
    translating.return(undefined as never); // it may have been left half-way: the memory goes back
  }
}

/** The trace of a given translation, as text or ids. */
export function forced(bundle: Bundle, asked: Asked, target: string | readonly number[]): Trace {
  const request = makeRequest(bundle, asked.text, asked.settings ?? {}, asked.prefix);
  return force(bundle, request, targetIds(bundle, target), asked.gates);
}

/** What the model makes of a text. */
export function health(bundle: Bundle, text: string): Health {
  return healthMessage(text, sourceLimit(bundle), problemOf(bundle, text), (typed) =>
    bundle.src.encode(typed),
  );
}

/** Every word of a text in the pieces that the model will read. */
export function split(bundle: Bundle, text: string): Piece[][] {
  return splitMessage(text, (typed) => bundle.src.encode(typed));
}

/** Everything the explorer needs of a trace; its weights as numbers, or packed as text. */
export function payload(bundle: Bundle, trace: Trace, packing?: Packing): TracePayload {
  return traceMessage(bundle, trace, health(bundle, trace.request.source), packing);
}
