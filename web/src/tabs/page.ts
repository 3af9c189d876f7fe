/* What a tab may ask of the page that it stands in. */

import type { LabQuestion } from "../protocol/lab";

/** An example of the page. */
export interface Example {
  id: string;
  direction: string;
  text: string;
  /** Few have one. */
  name?: string;
  /** What the model does wrong here, as a sentence. */
  weakness?: string;
}

/** What the page says to its script. */
export interface PageData {
  examples: Example[];
  /** Where stored translations of the examples lie. */
  address: string;
  /** Where plotly.js is. */
  plotly?: string;
  /** Names of the decoding controls, in the order of the page's inputs. */
  settings: string[];
  directions: string[];
  /** Those of the directions whose models the server fetches from the hub first. */
  hub?: string[];
  /** The lab's questions with their views; an offline page has none. */
  lab?: LabQuestion[];
  /** Where each language's words are, if they come only when it is chosen. */
  words?: Record<string, string>;
  /** Answers that were asked for before the page's script had come, by address. */
  early?: Record<string, Promise<Response>>;
  /** What an exported site says of itself. */
  site?: unknown;
}

export type Field = HTMLTextAreaElement | HTMLInputElement;

/** The fields of the page round a tab. */
export interface PageFields {
  field(id: string): Field | null;
  setField(node: Field | null, value: string): void;
  /** The direction that is chosen; `id` is of the radios, if those are not the page's own. */
  direction(id?: string): string;
  /** Choose another; what these radios do not offer changes nothing. */
  setDirection(direction: string, id?: string): void;
  offers(direction: string, id?: string): boolean;
  /**
   * Resolves when the fields hold what the address or the first example says: before, they must not
   * be read.
   */
  settled: Promise<unknown>;
}

export const pageData = (): PageData =>
  window.__explorerData ?? { examples: [], address: "", settings: [], directions: [] };

/** The first example of a direction, if there is one. */
export const firstExample = (direction: string): Example | undefined =>
  pageData().examples.find((each) => each.direction === direction);

/**
 * What a component of Gradio's gives to a script: its value, and who tells when that changes. A
 * page without a server gives messages as they are.
 */
export interface Props<V = string | object> {
  value?: V | null;
}
export type Watch = (name: string, run: () => void) => void;
