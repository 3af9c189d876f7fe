/* What the live page's code answers in Node: the task comes by stdin, from `benchmarks/live_parity.py`. */

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { answers, bundleOf, mapsOf } from "./live.mjs";

const task = JSON.parse(readFileSync(0, "utf8"));
const live = await import(`${task.live}/worker.js`);
if (task.chinese) live.useChinese(JSON.parse(gunzipSync(readFileSync(task.chinese))));
const read = async (name) => new Uint8Array(readFileSync(`${task.folder}/${name}`));

const ask = {
  /** Ids and the best of every step, of each text by each setting. */
  ids: async ({ texts, settings }) => {
    const bundle = await bundleOf(live, read);
    const found = Object.entries(settings).map(([name, each]) => [
      name,
      answers(live, bundle, texts, each),
    ]);
    return Object.fromEntries(found);
  },
  /** Ids of each text; every map goes to a file as float32, one text after the other. */
  maps: async ({ texts, settings, gates, out }) => {
    const bundle = await bundleOf(live, read);
    const file = openSync(out, "w");
    const found = texts.map((text) => {
      const { ids, maps } = mapsOf(live, bundle, text, settings, gates);
      for (const values of maps) writeSync(file, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      return ids;
    });
    closeSync(file);
    return found;
  },
  /** Ids of each text by one vocabulary. */
  tokens: async ({ file, texts, casing }) => {
    const plain = live.loadTokenizer(JSON.parse(readFileSync(file, "utf8")));
    if (casing) live.useCasing(JSON.parse(gunzipSync(Buffer.from(casing, "base64"))));
    const tokenizer = casing ? live.withCasing(plain) : plain;
    return texts.map((text) => tokenizer.ids(text));
  },
}[task.ask];
process.stdout.write(JSON.stringify(await ask(task)));
