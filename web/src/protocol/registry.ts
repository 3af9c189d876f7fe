/* What can be asked: `translator/registry`, written to registry.json by `python
   web/registry.py`. */

import type { Method, Settings } from "./messages";
import { decoding, defaults, lab, limits, methods, positions } from "./registry.json";

/** What a value may be. */
export interface Asked {
  kind: "choice" | "whole" | "number" | "text" | "pairs";
  choices?: readonly (string | boolean)[];
  low?: number;
  /**
   * For a decoding setting the most that a public page grants; left out where the model or the
   * sentence says it.
   */
  high?: number;
}

/** A field of the lab. */
export interface LabValues extends Asked {
  /** null: whoever answers chooses. */
  value: string | number | null;
}

/** How a page asks for a setting. */
export interface Control {
  label: string;
  kind: "range" | "number" | "text";
  low: number;
  high: number;
  step?: number;
  /** What it shows first. */
  value: number | string;
  /** The value that leaves the setting to the checkpoint. */
  blank?: number | string;
}

/** A decoding setting. */
export interface Setting extends Asked {
  name: string;
  /** Whether it may be null. */
  empty: boolean;
  /** The only method that uses it. */
  method?: Method;
  control?: Control;
}

/** Characters and tokens of one sentence. */
export const LIMITS: Record<"characters" | "source_tokens" | "target_tokens", number> = limits;
export const DECODING = decoding as readonly Setting[];
export const DEFAULTS = defaults as Partial<Settings> & Record<string, unknown>;
/** The settings that each method has to itself. */
export const METHODS: Record<Method, string[]> = methods;

/** A field of a view of the lab. */
export const labField = (view: string, name: string): LabValues =>
  (lab as unknown as Record<string, Record<string, LabValues>>)[view]![name]!;

/** What the Positions tab says and asks for. */
export const POSITIONS = positions;
