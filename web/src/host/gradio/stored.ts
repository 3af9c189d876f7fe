/* Stored translations of the examples. */

import { fetchOnce } from "../../dom/early";
import type { TracePayload } from "../../protocol/messages";
import { pageData } from "../../tabs/page";

const request = async (id: string): Promise<TracePayload> => {
  const answer = await fetchOnce(pageData().address + id + ".json");
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
};

const coming = new Map<string, Promise<TracePayload>>();

/** Fetch one that will be asked for; resolves when it has come, or will not. */
export const fetchAhead = (id: string): Promise<void> => {
  const answer = request(id);
  coming.set(id, answer);
  const done = () => undefined; // of a failure whoever asks for it is told
  return answer.then(done, done);
};

/** The translation of an example; each answer is given once, since who shows it may change it. */
export const stored = (id: string): Promise<TracePayload> => {
  const ahead = coming.get(id);
  coming.delete(id);
  return ahead ?? request(id);
};
