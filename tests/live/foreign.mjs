/* What the page says of texts that seem to be in another language than its own. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { answer, live, task } from "./answer.mjs";

live.useLanguages(JSON.parse(gunzipSync(readFileSync(task.file))));
answer(task.texts.map((text) => live.foreign(task.names, task.language, text)));
