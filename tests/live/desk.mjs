/* Calls to a page's worker, answered from an exported folder: what a browser would fetch is read from disk. */

import { readFileSync } from "node:fs";
import { answer, live, task } from "./answer.mjs";

const asked = [];
globalThis.fetch = async (path, { headers = {} } = {}) => {
  const start = Number(/bytes=(\d+)-/.exec(headers.Range ?? "")?.[1] ?? 0);
  asked.push([path, start]);
  const bytes = readFileSync(`${task.folder}/${path}`).subarray(start);
  return new Response(bytes, { status: start ? 206 : 200 });
};

const replies = [];
const manifest = JSON.parse(readFileSync(`${task.folder}/manifest.json`, "utf8"));
const desk = new live.Desk(manifest, (reply) => replies.push(reply));
const awake = setInterval(() => undefined, 1000); // the desk's own channel keeps no process alive
await Promise.all(task.calls.map(([name, given], id) => desk.call(id, name, given)));

clearInterval(awake);

const plain = (value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value);
answer({
  asked,
  answers: task.calls.map((_, id) => {
    const mine = replies.filter((reply) => reply.id === id);
    const last = mine.at(-1);
    return {
      kinds: mine.map(({ kind }) => kind),
      progress: mine.filter(({ kind }) => kind === "progress").map(({ received }) => received),
      value: plain(last.value),
      text: last.text,
    };
  }),
});
