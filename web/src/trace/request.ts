/* A translation that is shown, as the server is asked about it. */

import type { TraceRequest } from "../protocol/server";
import type { Translation } from "./translation";

export const requestOf = ({
  source,
  direction,
  settings,
  id,
  prefix,
}: Translation): TraceRequest => ({
  text: source,
  direction,
  settings,
  id,
  ...(prefix.length ? { prefix } : {}),
});
