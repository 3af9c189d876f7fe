/* What the engine says to weights or a config that it does not take. */

import { answer, live, load, task } from "./answer.mjs";

try {
  await load(task.config, task.weights);
  answer("");
} catch (error) {
  if (!(error instanceof live.Refusal)) throw error;
  answer(error.message);
}
