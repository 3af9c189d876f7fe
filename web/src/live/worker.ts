/* What a page's worker runs. The parts are exported, so that tests can have them without a
   browser. */

import type { Manifest } from "./checkpoint";
import type { Request } from "./calls";
import { Desk } from "./desk";

export { loadBundle } from "./bundle";
export { isRelaxed } from "./checkpoint";
export { sourceSpans, Spelling } from "./decode/copying";
export { sourceNames } from "./decode/names";
export { Desk } from "./desk";
export { importance } from "./engine/importance";
export { Transformer } from "./engine/transformer";
export { npz } from "./npz";
export { Refusal } from "./refusal";
export { forced, health, payload, split, stream } from "./session";
export { fetchFile, fetchInto } from "./store";
export { foreign } from "./foreign";
export { useCasing, withCasing } from "./text/casing";
export { useChinese } from "./text/chinese";
export { useLanguages } from "./text/languages";
export { loadTokenizer } from "./text/load";
export { spelling } from "./text/spelling";

/** The desk of the site whose manifest lies at an address, with its files' addresses made whole. */
async function openDesk(site: string): Promise<Desk> {
  const answer = await fetch(site);
  const text = (await answer.text()).replace(
    /"path":\s*"([^"]+)"/g,
    (_, path: string) => `"path":${JSON.stringify(new URL(path, site).href)}`,
  );
  return new Desk(JSON.parse(text) as Manifest, (reply) => postMessage(reply));
}

let desk: Promise<Desk> | undefined;

if ("WorkerGlobalScope" in globalThis)
  onmessage = async ({ data }: MessageEvent<Request>) => {
    if ("cancel" in data) return (await desk)?.cancel(data.cancel);
    const { id, name, given, site } = data;
    try {
      await (await (desk ??= openDesk(site))).call(id, name, given);
    } catch {
      desk = undefined; // the manifest did not come
      const text =
        "the list of this site's files could not be loaded; try again when you are online";
      postMessage({ id, kind: "refused", text, again: true });
    }
  };
