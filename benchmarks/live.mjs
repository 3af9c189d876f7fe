/* What `python -m benchmarks.live` has measured in a browser or in Node: the live page's own code, on one thread. */

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** The median of several runs, in milliseconds; what is done before each is not timed. */
export async function timed(work, runs, before = () => {}) {
  const times = [];
  for (let run = 0; run < runs; run++) {
    before();
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return median(times);
}

/** A checkpoint from bytes that are here. */
export async function bundleOf(live, read) {
  const parsed = async (name) => JSON.parse(new TextDecoder().decode(await read(name)));
  const file = await read("model.safetensors");
  const casing = new Response(new Blob([await read("casing.json.gz")]).stream().pipeThrough(new DecompressionStream("gzip")));
  live.useCasing(await casing.json());
  const engine = live.isRelaxed() ? "relaxed.wasm" : "engine.wasm";
  return live.loadBundle(await WebAssembly.compile(await read(`../../${engine}`)), {
    config: await parsed("config.json"),
    src: await parsed("src.json"),
    tgt: await parsed("tgt.json"),
    weights: { sha256: "", size: file.length, fill: (room) => room.set(file) },
  });
}

function whole(live, bundle, text, settings, gates) {
  const steps = live.stream(bundle, { text, settings, gates });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Milliseconds: of the encoder, a token of each method, the gated passes, a translation of 64 by 64 tokens. */
export async function speeds(live, bundle, texts, runs) {
  const { model } = bundle;
  const found = {};
  for (const [name, settings] of [
    ["greedy", { method: "greedy" }],
    ["beam", { method: "beam", beam: 4 }],
  ]) {
    texts.forEach((text) => whole(live, bundle, text, settings));
    const each = [];
    for (const text of texts) {
      const tokens = whole(live, bundle, text, settings).tgt.length;
      each.push((await timed(() => void whole(live, bundle, text, settings), runs)) / tokens);
    }
    found[name] = median(each);
  }
  const ids = bundle.src.ids(texts[0]);
  found.encode = await timed(() => void model.heap.scoped(() => model.encode([...ids, 2])), 4 * runs);
  const { tgt } = whole(live, bundle, texts[0], { method: "greedy" });
  const produced = tgt.map(({ id }) => id);
  const silent = (target) => {
    for (const kind of ["encoder", "decoder", "cross"])
      for (const row of live.importance(model, [...ids, 2], target, kind)) void row;
  };
  // Another translation in between: what is kept of one shall not make the next run quicker.
  found.gated = await timed(() => silent(produced), runs, () => silent([2]));
  const long = Array.from({ length: 64 }, (_, i) => 300 + 7 * i);
  found.long = await timed(
    () => void model.heap.scoped(() => model.decode(model.encode(long), long.map((id) => id + 1))),
    runs,
  );
  found.size = [ids.length + 1, produced.length];
  return found;
}

/** Produced ids and the best eight of every step, of each text. */
export function answers(live, bundle, texts, settings) {
  return texts.map((text) => {
    const { tgt, thoughts } = whole(live, bundle, text, settings);
    return { ids: tgt.map(({ id }) => id), best: thoughts.map(({ candidates }) => candidates) };
  });
}

/** Produced ids, and the maps of the encoder, the decoder and cross-attention; `gates` are [L, H] of each, or none. */
export function mapsOf(live, bundle, text, settings, gates) {
  const flat = Object.entries(gates ?? {}).map(([kind, values]) => [kind, Float32Array.from(values)]);
  const { tgt, ...trace } = whole(live, bundle, text, settings, Object.fromEntries(flat));
  const maps = ["encoder", "decoder", "cross"].map((kind) => trace[kind].values);
  return { ids: tgt.map(({ id }) => id), maps };
}

/** Bytes of the engine and of the rest after so many translations. */
export function memory(live, bundle, texts, count) {
  for (let at = 0; at < count; at++) whole(live, bundle, texts[at % texts.length], {});
  return bundle.model.bytes;
}
