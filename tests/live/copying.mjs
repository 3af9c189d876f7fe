/* What a search must not write after given ids, for each source: of a table of texts, or of a vocabulary. */

import { readFileSync } from "node:fs";
import { answer, live, task } from "./answer.mjs";

const texts = task.file
  ? live.spelling(live.loadTokenizer(JSON.parse(readFileSync(task.file, "utf8"))))
  : task.texts;
const table = new live.Spelling(texts);
answer({
  texts,
  forbidden: task.sources.map(({ text, src, tgt, walks }) => {
    const spans = live.sourceSpans(table, text, src, tgt);
    return spans && walks.map((ids) => spans.forbidden(ids));
  }),
});
