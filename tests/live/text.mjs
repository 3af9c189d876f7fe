/* Texts through a tokenizer: ids, and tokens with spans counted in characters, as Python counts them. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { answer, live, task } from "./answer.mjs";

if (task.chinese) live.useChinese(JSON.parse(gunzipSync(readFileSync(task.chinese))));
if (task.casing) live.useCasing(JSON.parse(gunzipSync(Buffer.from(task.casing, "base64"))));
const loaded = live.loadTokenizer(JSON.parse(readFileSync(task.file, "utf8")));
const tokenizer = task.casing ? live.withCasing(loaded) : loaded;

function plain(text, tokens) {
  const places = new Map([[0, 0]]); // UTF-16 units to characters
  let [unit, count] = [0, 0];
  for (const char of text) places.set((unit += char.length), ++count);
  return tokens.map(({ id, surface, span, word, space, special, unknown }) => [
    id,
    surface,
    span && span.map((at) => places.get(at)),
    word,
    space,
    special,
    unknown,
  ]);
}

const read = (ids) => ({
  text: tokenizer.decode(ids),
  tokens: plain(tokenizer.decode(ids), tokenizer.tokens(ids)),
});

answer({
  ids: (task.ids ?? []).map((text) => tokenizer.ids(text)),
  encoded: (task.encode ?? []).map((text) => plain(text, tokenizer.encode(text).tokens)),
  read: (task.read ?? []).map(read),
});
