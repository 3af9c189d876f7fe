/* Stored translations, for tests. */

import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import type { TracePayload } from "../protocol/messages";
import { Translation } from "../trace/translation";

const FOLDER = path.resolve(import.meta.dirname, "../../../assets/examples");

/** Every stored example by its id. */
export const EXAMPLES: string[] = readdirSync(FOLDER)
  .filter((name) => /^[a-z]{2}-[a-z]{2}-.*\.json$/.test(name))
  .map((name) => name.slice(0, -".json".length));

export const payload = (id = "de-en-in-den"): TracePayload =>
  JSON.parse(readFileSync(path.join(FOLDER, id + ".json"), "utf8"));

export const example = (id?: string): Translation => new Translation(payload(id));
