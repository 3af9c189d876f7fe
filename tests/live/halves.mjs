/* float16 numbers, given as their bits, as the engine widens them. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { answer, packed, task } from "./answer.mjs";

const bytes = readFileSync(fileURLToPath(`${task.live}/engine.wasm`));
const { exports } = (await WebAssembly.instantiate(bytes, {})).instance;
const count = task.bits.length;
const from = exports.allocate(2 * count);
const to = exports.allocate(4 * count);
new Uint16Array(exports.memory.buffer, from, count).set(task.bits);
exports.widened(from, count, to);
answer(packed(new Float32Array(exports.memory.buffer, to, count), [count]));
