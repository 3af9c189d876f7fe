/* What a search must not write after given ids, for each source: of a table of texts, or of a vocabulary. */

import { readFileSync } from "node:fs";
import { answer, live, task } from "./answer.mjs";

const texts = task.file
  ? live.spelling(
      live.loadTokenizer(JSON.parse(readFileSync(task.file, "utf8"))),
    )
  : task.texts;
const table = new live.Spelling(texts);
const sorted = (gains) => [...gains].sort((a, b) => a[0] - b[0]);
answer({
  texts,
  forbidden: task.sources.map(({ text, src, tgt, walks }) => {
    const spans = live.sourceSpans(table, text, src, tgt);
    return spans && walks.map((ids) => spans.forbidden(ids));
  }),
  names: task.sources.map(({ text, walks }) => {
    const names = live.sourceNames(table, text, (word) => word.length, 2.5);
    return (
      names &&
      walks.map((ids) => [
        names.missing(ids),
        names.unspelt(ids),
        sorted(names.gains(ids)),
      ])
    );
  }),
});
