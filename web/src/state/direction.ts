/* A direction as the page writes it: a checkpoint's name and, where it has many languages, the two
   that are meant. */

/** Two languages by the checkpoint's own codes, such as "deu_Latn". */
export interface LanguagePair {
  src: string;
  tgt: string;
}

/** A checkpoint, and the languages it is set to; null: as it is by itself. */
export interface Direction {
  name: string;
  pair: LanguagePair | null;
}

/** "NAME" or "NAME:SRC-TGT"; no name has a colon. */
export const readDirection = (written: string): Direction => {
  const found = /^([^:]*):(\w{1,40})-(\w{1,40})$/.exec(written);
  return found
    ? { name: found[1], pair: { src: found[2], tgt: found[3] } }
    : { name: written, pair: null };
};

export const writeDirection = (name: string, pair: LanguagePair | null): string =>
  pair ? `${name}:${pair.src}-${pair.tgt}` : name;

/**
 * The direction that an address asks for: ?direction=NAME, with &src= and &tgt= for one with many
 * languages.
 */
export const directionInSearch = (search: string, directions: readonly string[]): string | null => {
  const part = new URLSearchParams(search);
  const [asked, src, tgt] = ["direction", "src", "tgt"].map((name) => part.get(name));
  if (!src || !tgt) return asked;
  const own = directions.includes(`${src}-${tgt}`) ? `${src}-${tgt}` : directions[0];
  if (!asked && own === `${src}-${tgt}`) return own;
  return writeDirection(asked ?? own, { src, tgt });
};
