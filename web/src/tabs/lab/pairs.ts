/* Minimal pairs that the patching board offers. */

const PAIRS: Record<string, [first: string, second: string]> = {
  de: ["Ich laufe in den Park.", "Ich laufe in dem Park."],
  en: [
    "The animal did not cross the street because it was too tired.",
    "The animal did not cross the street because it was too wide.",
  ],
};
/** Two sentences that differ in a word, for a model that reads their language. */
export const examplePair = (direction: string): [string, string] | undefined =>
  PAIRS[direction.split("-")[0]];
