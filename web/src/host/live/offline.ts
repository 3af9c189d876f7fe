/* The whole explorer for one translation as a single file: the shell with another translation in
   it. */

import type { TracePayload } from "../../protocol/messages";
import { escapeHtml } from "../../format/text";

/** zlib's format in base64, as the shell's script inflates it. */
const packed = async (text: string): Promise<string> => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
};

/**
 * `address`: of the shell, in which marks stand where one translation differs from another; Python
 * writes it.
 */
export const offlinePage = async (payload: TracePayload, address: string): Promise<Blob> => {
  const answer = await fetch(address);
  if (!answer.ok)
    throw new Error(
      "the offline page's template could not be loaded; try again when you are online",
    );
  const made: Record<string, string> = {
    "@@payload@@": await packed(JSON.stringify(payload)),
    "@@source@@": escapeHtml(payload.source),
    "@@translation@@": escapeHtml(payload.translation),
    "@@src@@": escapeHtml(payload.checkpoint.src),
    "@@tgt@@": escapeHtml(payload.checkpoint.tgt),
  };
  const shell = await answer.text();
  return new Blob([shell.replace(/@@\w+@@/g, (mark) => made[mark] ?? mark)], { type: "text/html" });
};
