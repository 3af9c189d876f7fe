/* A link that rebuilds the view; all of it in the fragment, which no server sees. */

import type { Settings } from "../protocol/messages";
import { METHODS } from "../protocol/registry";
import { decodingOf } from "../trace/settings";
import type { Translation } from "../trace/translation";
import { FIRST_STATE, type View, type Wish } from "./view";

const SETTING_KEYS: Partial<Record<string, string>> = {
  method: "m",
  beam: "b",
  length_penalty: "lp",
  temperature: "te",
  top_k: "tk",
  top_p: "tp",
  seed: "sd",
  max_length: "ml",
};
const VIEW_KEYS = [
  ["unit", "u"],
  ["aggregate", "a"],
  ["scale", "c"],
  ["specials", "x"],
] as const;

/** What a link asks for. */
export interface Linked {
  text: string;
  direction: string | null;
  settings: Partial<Settings>;
  /** Ids that the translation begins with; none: it is the model's own from the start. */
  prefix: number[];
  view: Wish;
}

export const permalink = ({ trace, state }: { trace: Translation; state: View }): string => {
  const part = new URLSearchParams();
  const set = (key: string, value: unknown) => part.set(key, String(value));
  set("d", trace.direction);
  set("t", trace.source);
  for (const [name, value] of Object.entries(decodingOf(trace))) {
    const key = SETTING_KEYS[name];
    if (key) set(key, value);
  }
  if (trace.prefix.length) set("p", trace.prefix.join("."));
  set("k", state.kind);
  set("l", state.layer + 1);
  set("h", state.head + 1);
  set("s", state.step + 1);
  if (state.kind === "encoder") set("q", state.query + 1);
  if (state.view !== "heatmap") set("v", state.view);
  for (const [name, key] of VIEW_KEYS) if (state[name] !== FIRST_STATE[name]) set(key, state[name]);
  const address = new URL(location.href);
  address.hash = part.toString();
  return address.href;
};

const settingsIn = (part: URLSearchParams): Partial<Settings> => {
  const settings: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(SETTING_KEYS)) {
    const value = part.get(key!);
    if (name !== "method" && value && Number.isFinite(Number(value)))
      settings[name] = Number(value);
  }
  const method = part.get(SETTING_KEYS.method!);
  if (method !== null && Object.hasOwn(METHODS, method)) settings.method = method;
  return settings;
};

/** Ids with dots between them; none, if anything else stands there. */
export const idsIn = (text: string | null): number[] => {
  const ids = text ? text.split(".") : [];
  return ids.every((id) => /^\d{1,9}$/.test(id)) ? ids.map(Number) : [];
};

/** What a link asks for, or null; what it says of numbers that are none is left out. */
export const readPermalink = (hash: string): Linked | null => {
  const part = new URLSearchParams(hash.replace(/^#/, ""));
  const text = part.get("t");
  if (text === null) return null;
  const place = (key: string) => (part.has(key) ? Number(part.get(key)) - 1 : undefined);
  const view: Wish = {
    kind: part.get("k"),
    layer: place("l"),
    head: place("h"),
    step: place("s"),
    query: place("q"),
    view: part.get("v"),
  };
  for (const [name, key] of VIEW_KEYS) view[name] = part.get(key);
  const prefix = idsIn(part.get("p"));
  return { text, direction: part.get("d"), settings: settingsIn(part), prefix, view };
};

/** The station of the lesson that a link opens, or null. */
export const stationInLink = (): string | null =>
  new URLSearchParams(location.hash.slice(1)).get("lesson");
