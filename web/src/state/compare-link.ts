/* A link that rebuilds a comparison: both sentences, how they are decoded, and what is looked
   at. */

import { KINDS, type Kind, type Method } from "../protocol/messages";
import { METHODS } from "../protocol/registry";
import type { Unit } from "../trace/picture";

import type { Translation } from "../trace/translation";

export interface ComparedSide {
  text: string;
  direction: string;
  method: Method | "automatic";
}

/** What is looked at; indices count from 0. */
export interface ComparedView {
  kind: Kind;
  layer: number;
  head: number;
  step: number;
  unit: Unit;
}

export interface ComparisonLink {
  a: ComparedSide;
  b: ComparedSide;
  view: ComparedView;
}

const sideOf = ({ source, direction, settings, automatic }: Translation): ComparedSide => ({
  text: source,
  direction,
  method: automatic ? "automatic" : settings.method,
});

export const comparisonLink = (
  traces: { a: Translation; b: Translation },
  { kind, layer, head, step, unit }: ComparedView,
): string => {
  const part = new URLSearchParams({ compare: "1" });
  for (const name of ["a", "b"] as const) {
    const { text, direction, method } = sideOf(traces[name]);
    part.set(name, text);
    part.set(name + "d", direction);
    if (method !== "automatic") part.set(name + "m", method);
  }
  const numbers = { l: layer + 1, h: head + 1, s: step + 1 };
  part.set("k", kind);
  for (const [name, value] of Object.entries(numbers)) part.set(name, String(value));
  if (unit === "word") part.set("u", unit);
  const address = new URL(location.href);
  address.hash = part.toString();
  return address.href;
};

/** What a link asks for, or null; what it says of numbers that are none is the first of all. */
export const comparisonInLink = (hash = location.hash): ComparisonLink | null => {
  const part = new URLSearchParams(hash.replace(/^#/, ""));
  if (!part.has("compare") || !part.has("a") || !part.has("b")) return null;
  const place = (name: string) => Math.max(0, Math.trunc(Number(part.get(name))) - 1 || 0);
  const side = (name: string): ComparedSide => {
    const method = part.get(name + "m") ?? "";
    return {
      text: part.get(name)!,
      direction: part.get(name + "d") ?? "",
      method: Object.hasOwn(METHODS, method) ? (method as Method) : "automatic",
    };
  };
  const kind = KINDS.find((each) => each === part.get("k")) ?? "cross";
  const unit = part.get("u") === "word" ? "word" : "sub";
  const view = { kind, layer: place("l"), head: place("h"), step: place("s"), unit } as const;
  return { a: side("a"), b: side("b"), view };
};
