/* What the scripts of this folder share: the task from stdin, the live page's code, arrays as base64. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

export const task = JSON.parse(readFileSync(0, "utf8"));
export const live = await import(`${task.live}/worker.js`);

export async function compiled() {
  if (task.engine === "relaxed.wasm") setFlagsFromString("--experimental-wasm-relaxed-simd"); // Node 20 asks for it
  return WebAssembly.compile(readFileSync(fileURLToPath(`${task.live}/${task.engine ?? "engine.wasm"}`)));
}

/** The model of a config with the weights of a file. */
export async function load(config, path) {
  const file = readFileSync(path);
  return live.Transformer.load(await compiled(), config, file.length, (room) => room.set(file));
}

export function packed(array, shape) {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return { shape, base64: bytes.toString("base64") };
}

export function answer(value) {
  process.stdout.write(JSON.stringify(value));
}
