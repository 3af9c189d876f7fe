/* A link that opens the lab at the same question; all of it in the fragment, which no server
   sees. */

import type { LabQuestion } from "./ask";
import { idsIn } from "./permalink";

export const labLink = ({ view, options, text, target, direction }: LabQuestion): string => {
  const part = new URLSearchParams({ lab: view, d: direction ?? "", t: text });
  const chosen = Object.entries(options).filter(([, value]) => value !== null && value !== "");
  if (chosen.length) part.set("o", JSON.stringify(Object.fromEntries(chosen)));
  if (target) part.set("y", target.join("."));
  const address = new URL(location.href);
  address.hash = part.toString();
  return address.href;
};

/** Options as a link holds them; the server judges their values. */
const optionsIn = (text: string | null): Record<string, unknown> => {
  try {
    const read: unknown = JSON.parse(text ?? "{}");
    return read && typeof read === "object" && !Array.isArray(read) ? { ...read } : {};
  } catch {
    return {};
  }
};

/** The question that a link asks, or null; what it says wrongly is left out. */
export const readLabLink = (hash: string): LabQuestion | null => {
  const part = new URLSearchParams(hash.replace(/^#/, ""));
  const [view, text] = [part.get("lab"), part.get("t")];
  if (!view || text === null) return null;
  const ids = idsIn(part.get("y"));
  return {
    view,
    options: optionsIn(part.get("o")),
    text,
    target: ids.length ? ids : null,
    direction: part.get("d"),
  };
};
