/* Sentences through a whole checkpoint: the messages that the explorer is told, with exact weights. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { answer, compiled, live, task } from "./answer.mjs";

const read = (name) => readFileSync(`${task.folder}/${name}`);
const parsed = (name) => JSON.parse(read(name));

if (task.chinese) live.useChinese(JSON.parse(gunzipSync(readFileSync(task.chinese))));
if (task.casing) live.useCasing(JSON.parse(gunzipSync(Buffer.from(task.casing, "base64"))));
const file = read("model.safetensors");
const bundle = await live.loadBundle(await compiled(), {
  config: parsed("config.json"),
  src: parsed("src.json"),
  tgt: parsed("tgt.json"),
  ...(task.profile ? { profile: task.profile } : {}),
  weights: { sha256: task.sha256, size: file.length, fill: (room) => room.set(file) },
});

const gates = Object.fromEntries(
  Object.entries(task.gates ?? {}).map(([kind, values]) => [kind, Float32Array.from(values)]),
);

function one({ text, settings, prefix, target }) {
  try {
    const steps = [];
    const asked = { text, settings, prefix, gates };
    let trace;
    if (target !== undefined) trace = live.forced(bundle, asked, target);
    else {
      const streaming = live.stream(bundle, asked);
      for (;;) {
        const { done, value } = streaming.next();
        if (done) {
          trace = value;
          break;
        }
        steps.push(value);
        if (task.leaveAfter === steps.length) return streaming.return();
      }
    }
    if (task.brief)
      return {
        ids: trace.tgt.map(({ id }) => id),
        best: trace.thoughts.map(({ candidates }) => candidates),
      };
    return { steps: task.steps ? steps : [], trace: live.payload(bundle, trace, "f32") };
  } catch (error) {
    if (!(error instanceof live.Refusal)) throw error;
    return { refused: error.message };
  }
}

const before = bundle.model.heap.exports.mark();
const answers = task.sentences.map(one);
answer({ answers, leaked: bundle.model.heap.exports.mark() - before, bytes: bundle.model.bytes });
