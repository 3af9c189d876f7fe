/* The numbers of a source text, in every way that its translation may write them in digits.
   decode/numbers.py, in the same order. */

/** Digits from which a number may be written as a multiple of one that has a word. */
const LARGE = 4;
/** Zeros of the numbers that have a word in any of our languages. */
const WORDS_FOR = [3, 4, 6, 8, 9];
/** Runs of digits, at most, that separators make one number of. */
const GROUPS = 8;

/** What may stand between the digits of one number. */
export const SEPARATORS = ".,'’\u00a0\u2009\u202f";
const JOINED = `[0-9]+(?:[${SEPARATORS}][0-9]+)*`;
const THOUSANDS = new RegExp(
  `(?<![0-9])[1-9][0-9]{0,2}(?:([${SEPARATORS}])[0-9]{3}(?:\\1[0-9]{3})*)(?![0-9])`,
  "g",
);
const SPACED = /(?<![0-9])[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])/g;
const [NO_LETTER_BEFORE, NO_LETTER_AFTER] = ["(?<![a-zäöüß])", "(?![a-zäöüß])"];

/** Words of which numbers are composed. */
const COMPOSING: Record<string, RegExp> = {
  de: new RegExp(
    "(?<!jahr)(?:hundert|tausend)|million|milliarde|billion|dutzend|zw(?:ö|oe)lf" +
      `|${NO_LETTER_BEFORE}(?:(?:elf|zehn)(?:te[nrsl]?)?|halb(?:e[nrs]?)?)${NO_LETTER_AFTER}` +
      "|einhalb|anderthalb|viertel" +
      "|(?:drei|vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zehn|zwanzig|drei(?:ß|ss)ig" +
      "|(?:vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zig",
  ),
  en: new RegExp(
    `${NO_LETTER_BEFORE}(?:ten|tenths?|half|quarters?)${NO_LETTER_AFTER}` +
      `|${NO_LETTER_BEFORE}(?:eleven|twelve|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teen|dozen` +
      "|hundred|thousand|[mb]illion|trillion|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ie))",
  ),
};

/** Words that multiply the number before them, and by how many zeros. */
const TIMES: Record<string, Record<string, number>> = {
  de: {
    hundert: 2,
    tausend: 3,
    tsd: 3,
    "million(?:en)?": 6,
    mio: 6,
    "milliarden?": 9,
    mrd: 9,
  },
  en: {
    "hundreds?": 2,
    "centur(?:y|ies)": 2,
    "thousands?": 3,
    k: 3,
    "millions?": 6,
    "billions?": 9,
  },
};
const MULTIPLIED = Object.fromEntries(
  Object.entries(TIMES).map(([language, words]) => [
    language,
    `(?<![0-9${SEPARATORS}])(${JOINED})[ \u00a0\u202f-]?` +
      `(?:${Object.keys(words)
        .map((word) => `(${word})`)
        .join("|")})${NO_LETTER_AFTER}`,
  ]),
);
const NOT_WITHIN = "(?<![0-9])";
const CLOCK = new RegExp(
  `${NOT_WITHIN}([0-9]{1,2})(?:[:.][0-9]{2})? ?(?:uhr|[ap]\\.? ?m|o['’]clock)${NO_LETTER_AFTER}` +
    `|${NOT_WITHIN}([0-9]{1,2}):[0-9]{2}(?![0-9])`,
  "g",
);
const DECADE = new RegExp(`${NOT_WITHIN}([0-9]{2})([0-9]0)(?:['’]?s|er)${NO_LETTER_AFTER}`, "g");
/** Words for which a number of two digits may be written. */
const NAMED = Object.entries({
  10: "o[ck]t(?:ober)?",
  11: "nov(?:ember)?",
  12: "de[cz](?:ember)?|noon|midday|midnight|mittags?|mitternacht",
}).map(
  ([number, names]) =>
    [number, new RegExp(`${NO_LETTER_BEFORE}(?:${names})${NO_LETTER_AFTER}`)] as const,
);

/**
 * The numbers of a source `text`, in lower case, as a translation may write them in digits; null
 * where nothing can be said.
 */
export function inDigits(text: string, language: string): ReadonlySet<string> | null {
  const known = Object.hasOwn(COMPOSING, language) && /[0-9]/.test(text);
  if (!known || composes(text, language)) return null;
  return new Set([...written(text), ...multiplied(text, language), ...named(text)].flatMap(forms));
}

/** Whether a word of `text` makes a number that does not stand there in digits. */
function composes(text: string, language: string): boolean {
  return COMPOSING[language]!.test(text.replace(new RegExp(MULTIPLIED[language]!), ""));
}

/** Every run of digits, and those that separators join, in each way to take neighbours together. */
function written(text: string): string[] {
  const out: string[] = [];
  for (const joined of text.match(new RegExp(JOINED, "g")) ?? []) {
    const whole = joined.replace(THOUSANDS, (found) => found.replace(/[^0-9]/g, ""));
    const runs = whole.match(/[0-9]+/g)!;
    runs.forEach((_, first) => {
      for (let end = first + 1; end <= Math.min(first + GROUPS, runs.length); end++)
        out.push(runs.slice(first, end).join(""));
    });
  }
  for (const spaced of text.match(SPACED) ?? []) out.push(spaced.replaceAll(" ", ""));
  return out;
}

/** What words multiply, in digits: 1500000 for "1.5 million". */
function multiplied(text: string, language: string): string[] {
  const out: string[] = [];
  for (const found of text.matchAll(new RegExp(MULTIPLIED[language]!, "g"))) {
    const runs = found[1]!.match(/[0-9]+/g)!;
    const last = runs.at(-1)!.length;
    const zeros = Object.values(TIMES[language]!)[found.slice(2).findIndex(Boolean)]!;
    out.push(runs.join("") + "0".repeat(zeros));
    if (runs.length > 1 && last <= zeros) out.push(runs.join("") + "0".repeat(zeros - last));
  }
  return out;
}

/** Hours of the other half of the day, century and decade of "1980s", months and noon by number. */
function named(text: string): string[] {
  const hours = Array.from(text.matchAll(CLOCK), (found) => Number(found[1] ?? found[2]));
  const others = hours.flatMap((hour) => [hour - 12, hour + 12]);
  const decades = Array.from(text.matchAll(DECADE), ([, century, decade]) => [
    String(Number(century) + 1),
    decade!,
  ]);
  return [
    ...others.filter((hour) => hour >= 0 && hour <= 24).map(String),
    ...decades.flat(),
    ...NAMED.flatMap(([number, name]) => (name.test(text) ? [number] : [])),
  ];
}

/** A number, with and without a zero before it, a large one as a multiple of those with a word. */
function forms(number: string): string[] {
  const out = [number];
  if (number.length <= 2) out.push(number.padStart(2, "0"), number.replace(/^0+/, ""));
  if (number.length < LARGE) return out;
  const zeros = WORDS_FOR.filter((count) => number.endsWith("0".repeat(count)));
  return [...out, number.replace(/0+$/, ""), ...zeros.map((count) => number.slice(0, -count))];
}
