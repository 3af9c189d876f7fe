/* One source and one target through the engine: at once, token by token in several hypotheses, without each head. */

import { answer, live, load, packed, task } from "./answer.mjs";

const { config, weights, src, tgt, rows } = task;
const gates = Object.fromEntries(
  Object.entries(task.gates).map(([kind, values]) => [kind, Float32Array.from(values)]),
);
const [L, H, V] = [config.decoder_layers, config.decoder_heads, config.tgt_vocab];
const T = tgt.length;
const model = await load(config, weights);

answer(
  model.heap.scoped(() => {
    const encoded = model.encode(src, gates);
    const S = encoded.length;
    const decoded = model.decode(encoded, tgt, gates);
    const cache = model.start(encoded, T, rows, gates);
    const steps = [];
    let ids = [config.start_id];
    for (const id of tgt) {
      const logProbs = model.step(ids, cache).slice(-V); // of the last hypothesis
      const { own, cross } = model.rowsRead(cache, ids.length - 1);
      steps.push({
        logProbs: packed(logProbs, [V]),
        own: packed(own, [L, H, cache.length]),
        cross: packed(cross, [L, H, S]),
        entropy: model.entropy(cache, ids.length - 1),
      });
      model.reorder(cache, new Array(rows).fill(ids.length - 1));
      ids = new Array(rows).fill(id);
    }
    return {
      encoder: packed(encoded.weights, [config.encoder_layers, config.encoder_heads, S, S]),
      decoder: packed(decoded.decoder, [L, H, T, T]),
      cross: packed(decoded.cross, [L, H, T, S]),
      logProbs: packed(decoded.logProbs, [T, V]),
      steps,
      worth: Object.fromEntries(
        ["encoder", "decoder", "cross"].map((kind) => [kind, [...live.importance(model, src, tgt, kind)]]),
      ),
    };
  }),
);
