/* What is said to a vocabulary that the page cannot tokenize by. */

import { readFileSync } from "node:fs";
import { answer, live, task } from "./answer.mjs";

try {
  live.loadTokenizer(JSON.parse(readFileSync(task.file, "utf8")));
  answer("");
} catch (error) {
  if (!(error instanceof live.Refusal)) throw error;
  answer(error.message);
}
