/* Greedy translation by onnxruntime-web, of what `benchmarks/live_onnx.py` wrote, on one thread. */

import { median, timed } from "./measure.mjs";

/** Sessions of both graphs; `folder` holds them and onnxruntime-web's dist folder "ort". */
export async function open(folder) {
  const ort = await import(`${folder}ort/ort.wasm.min.mjs`);
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = `${folder}ort/`;
  const session = (name) => ort.InferenceSession.create(`${folder}${name}.onnx`);
  return { ort, encode: await session("encode"), step: await session("step") };
}

const whole = (ort, values) =>
  new ort.Tensor("int64", BigInt64Array.from(values, BigInt), values.length === 1 ? [1, 1] : [1, values.length]);

function largest(values) {
  let best = 0;
  for (let at = 1; at < values.length; at++) if (values[at] > values[best]) best = at;
  return best;
}

/** The ids of a greedy translation: the likeliest id of every step, and nothing else is made of it. */
async function greedy({ ort, encode, step }, config, srcIds, most) {
  const { decoder_layers: L, decoder_heads: H, d_model: D } = config;
  const read = await encode.run({ ids: whole(ort, srcIds) });
  const nothing = () => new ort.Tensor("float32", new Float32Array(0), [L, 1, H, 0, D / H]);
  let [keys, values, id] = [nothing(), nothing(), config.start_id];
  const ids = [];
  while (id !== config.eos_id && ids.length < most) {
    const found = await step.run({
      id: whole(ort, [id]),
      position: new ort.Tensor("int64", BigInt64Array.of(BigInt(ids.length)), [1]),
      keys,
      values,
      source_keys: read.keys,
      source_values: read.values,
    });
    [keys, values, id] = [found.new_keys, found.new_values, largest(found.logits.data)];
    ids.push(id);
  }
  return ids;
}

/**
 * Milliseconds a token of both by turns, the best run of each text, and how many texts got the same ids; ours with
 * every map and candidate.
 */
export async function speed(live, bundle, texts, runs, folder) {
  const opened = await open(folder);
  const { config } = bundle.model;
  const found = { ours: [], theirs: [], "same ids": 0 };
  const own = (text) => {
    const steps = live.stream(bundle, { text, settings: { method: "greedy", no_repeat_ngram_size: 0 } });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value.tgt.map(({ id }) => id);
    }
  };
  for (const text of texts) {
    const srcIds = [...bundle.src.ids(text), config.eos_id];
    const ids = own(text);
    const theirs = () => greedy(opened, config, srcIds, 100);
    found["same ids"] += ids.join() === (await theirs()).join();
    const times = { ours: [], theirs: [] };
    for (let run = 0; run < runs; run++) {
      times.ours.push(await timed(() => void own(text), 1));
      times.theirs.push(await timed(theirs, 1));
    }
    for (const name of ["ours", "theirs"]) found[name].push(Math.min(...times[name]) / ids.length);
  }
  return { ...found, ours: median(found.ours), theirs: median(found.theirs) };
}
