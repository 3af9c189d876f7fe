/* A trace as the Python package writes it: `Trace.load` reads the file. trace.py's `save`. */

import { strToU8, zipSync } from "fflate";
import type { Bundle } from "./bundle";
import type { Token } from "./text/tokenizer";
import type { Trace } from "./trace";

/** Arrays encoder, decoder, cross, log_probs, src and tgt; `meta` is UTF-8 JSON of all the rest. */
export function npz(bundle: Bundle, trace: Trace): Uint8Array {
  const logProbs = Float64Array.from(trace.thoughts, ({ logProb }) => logProb);
  const { encoder, decoder, cross } = trace;
  const meta = strToU8(JSON.stringify(metaOf(bundle, trace)));
  return zipSync({
    "encoder.npy": npy("<f4", encoder.shape, encoder.values),
    "decoder.npy": npy("<f4", decoder.shape, decoder.values),
    "cross.npy": npy("<f4", cross.shape, cross.values),
    "log_probs.npy": npy("<f8", [logProbs.length], logProbs),
    "src.npy": texts(trace.src),
    "tgt.npy": texts(trace.tgt),
    "meta.npy": npy("|u1", [meta.length], meta),
  });
}

/** An array in NumPy's format 1.0. */
function npy(dtype: string, shape: readonly number[], values: ArrayBufferView): Uint8Array {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const length = Math.ceil((10 + header.length + 1) / 64) * 64 - 10;
  const out = new Uint8Array(10 + length + values.byteLength);
  out.set([0x93, ...strToU8("NUMPY"), 1, 0, length & 255, length >> 8]);
  out.set(strToU8(`${header.padEnd(length - 1)}\n`), 10);
  out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 10 + length);
  return out;
}

/** Surfaces as NumPy's texts of four bytes a character, all as long as the longest. */
function texts(tokens: readonly Token[]): Uint8Array {
  const chars = tokens.map(({ surface }) => [...surface]);
  const width = Math.max(1, ...chars.map(({ length }) => length));
  const codes = new Uint32Array(width * tokens.length);
  chars.forEach((each, i) =>
    each.forEach((char, k) => (codes[i * width + k] = char.codePointAt(0)!)),
  );
  return npy(`<U${width}`, [tokens.length], codes);
}

function metaOf(bundle: Bundle, trace: Trace): object {
  const { request } = trace;
  const spans = (text: string) => (token: Token) => plainToken(token, text);
  const translated = spans(trace.translation);
  const { name, sha256, src, tgt } = bundle.info;
  return {
    format: 1,
    source: request.source,
    normalised: request.encoding.normalised.text,
    translation: trace.translation,
    src: trace.src.map(spans(request.source)),
    start: translated(trace.start),
    tgt: trace.tgt.map(translated),
    checkpoint: { name, sha256, src_language: src, tgt_language: tgt },
    settings: request.config,
    truncated: trace.truncated,
    seconds: trace.took / 1000,
    altered: false,
    steps: trace.thoughts.map((thought, t) => ({
      index: t,
      token: translated(trace.tgt[t]!),
      log_prob: thought.logProb,
      entropy: thought.entropy,
      candidates: thought.candidates.map(([id, log_prob]) => ({
        token: translated(bundle.tgt.token(id)),
        log_prob,
      })),
      beams: thought.beams,
      tokens: trace.tgt.slice(0, t + 1).map(translated),
    })),
  };
}

/** Its span counts characters there, UTF-16 units here. */
function plainToken(token: Token, text: string): object {
  const characters = (units: number) => [...text.slice(0, units)].length;
  return { ...token, span: token.span && token.span.map(characters) };
}
