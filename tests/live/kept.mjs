/* What each head is worth to several targets in turn, by one model that keeps what it read and by one for each. */

import { answer, live, load, task } from "./answer.mjs";

const { config, weights, src, targets } = task;
const kinds = ["encoder", "decoder", "cross"];
const model = await load(config, weights);
const turns = targets.flatMap((target) => kinds.map((kind) => [target, kind]));
const kept = turns.map(([target, kind]) => [...live.importance(model, src, target, kind)]);
const fresh = [];
for (const [target, kind] of turns)
  fresh.push([...live.importance(await load(config, weights), src, target, kind)]);
answer({ kept, fresh });
