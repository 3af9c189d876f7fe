/* Names that a beam search would rather copy from its source than leave out or translate:
   decode/names.py. */

import type { Spelling } from "./copying";

/** Source tokens from which a name is one that the model may not know. */
const PIECES = 2;
/** Names of a source that count in full; more share what these count. */
const TOGETHER = 3;
const LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ";
const NAME = new RegExp(`(?<![${LETTERS}0-9])[A-ZÀ-ÖØ-Þ][${LETTERS}]+(?![${LETTERS}0-9])`, "g");
const RUN = new RegExp(`[${LETTERS}]+`, "g");

/** An id, and the nats that it takes off what is missing. */
export type Gain = readonly [id: number, nats: number];

interface State {
  /** How often each name is missing. */
  left: ReadonlyMap<string, number>;
  /** The word that the text ends in and may go on with; or "". */
  tail: string;
  /** The share of a missing name that it begins. */
  begun: number;
}

/** What a hypothesis loses for names of one source that it does not hold as they stand there. */
export class Names {
  private readonly known = new Map<string, readonly Gain[]>();

  /** `names`: each with how often the source has it; `penalty` in nats. */
  constructor(
    private readonly spelling: Spelling,
    private readonly names: ReadonlyMap<string, number>,
    private readonly penalty: number,
  ) {}

  /** Nats that `ids` lose. */
  missing(ids: readonly number[]): number {
    const { left, begun } = this.state(ids);
    return this.penalty * (total(left) - begun);
  }

  /** Nats that `ids` lose with a token that goes on with no name. */
  unspelt(ids: readonly number[]): number {
    return this.penalty * total(this.state(ids).left);
  }

  /** The ids that begin a missing name or go on with it, and what each takes off `unspelt`. */
  gains(ids: readonly number[]): readonly Gain[] {
    const { left, tail } = this.state(ids);
    const key = [tail, ...left.values()].join(" ");
    let found = this.known.get(key);
    if (!found) this.known.set(key, (found = [...this.gainsOf(left, tail)]));
    return found;
  }

  private gainsOf(left: ReadonlyMap<string, number>, tail: string): Map<number, number> {
    const found = new Map<number, number>();
    for (const [name, count] of left) {
      if (!count) continue;
      const goesOn = tail !== "" && name.startsWith(tail);
      const at = goesOn ? tail.length : 0;
      const spaces = goesOn ? [""] : tail ? [" "] : ["", " "];
      for (let end = at + 1; end <= name.length; end++) {
        const gain = (this.penalty * end) / name.length;
        for (const id of spaces.flatMap((space) => this.spelling.ids(space + name.slice(at, end))))
          found.set(id, Math.max(gain, found.get(id) ?? 0));
      }
    }
    return found;
  }

  private state(ids: readonly number[]): State {
    const text = ids.map((id) => this.spelling.texts[id]!).join("");
    const left = new Map(this.names);
    let [tail, begun] = ["", 0];
    for (const { 0: word, index } of text.matchAll(RUN)) {
      tail = index + word.length === text.length ? word : "";
      const count = left.get(word);
      if (count) left.set(word, count - 1);
      else if (tail) begun = Math.max(0, ...begins(left, word));
    }
    return { left, tail, begun };
  }
}

/** What share of each missing name `word` is, where it begins one. */
function begins(left: ReadonlyMap<string, number>, word: string): number[] {
  return [...left].flatMap(([name, count]) =>
    count && name.startsWith(word) ? [word.length / name.length] : [],
  );
}

function total(left: ReadonlyMap<string, number>): number {
  return [...left.values()].reduce((a, b) => a + b, 0);
}

/** The capitalised words of a source `text` of two tokens or more; null where there are none. */
export function sourceNames(
  spelling: Spelling,
  text: string,
  pieces: (word: string) => number,
  penalty: number,
): Names | null {
  const counts = new Map<string, number>();
  if (penalty)
    for (const name of text.match(NAME) ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = new Map([...counts].filter(([name]) => pieces(name) >= PIECES));
  if (!names.size) return null;
  return new Names(spelling, names, penalty * Math.min(1, TOGETHER / total(names)));
}
