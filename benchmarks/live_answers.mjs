/* What the live page's code answers to sentences, in Node: the task comes by stdin, from `python -m benchmarks.live`. */

import { readFileSync } from "node:fs";
import { answers, bundleOf } from "./live.mjs";

const task = JSON.parse(readFileSync(0, "utf8"));
const live = await import(`${task.live}/worker.js`);
const read = async (name) => new Uint8Array(readFileSync(`${task.folder}/${name}`));
const bundle = await bundleOf(live, read);
const found = Object.entries(task.settings).map(([name, settings]) => [
  name,
  answers(live, bundle, task.texts, settings),
]);
process.stdout.write(JSON.stringify(Object.fromEntries(found)));
