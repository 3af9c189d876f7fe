/* Decoding settings: which of them gave a translation, and how they are told. */

import { type Sentence, t } from "../i18n/words";
import type { Settings } from "../protocol/messages";
import { DEFAULTS, METHODS } from "../protocol/registry";
import type { Translation } from "./translation";

/**
 * The settings that give this translation again: none where it was decoded as the checkpoint is
 * decoded best.
 */
export const decodingOf = ({
  settings,
  automatic,
}: Pick<Translation, "settings" | "automatic">): Partial<Settings> => {
  if (automatic) return {};
  const used = ["method", ...METHODS[settings.method]];
  const others = Object.values(METHODS).flat();
  const said = ([name, value]: [string, unknown]) =>
    used.includes(name) || (!others.includes(name) && value !== null && value !== DEFAULTS[name]);
  return Object.fromEntries(Object.entries(settings).filter(said));
};

/** What is said of a setting that differs from the checkpoint's own. */
const SET_BY_HAND: [name: "length_penalty" | "temperature" | "top_k" | "top_p", said: Sentence][] =
  [
    ["length_penalty", "length penalty {value} set by hand"],
    ["temperature", "temperature {value} set by hand"],
    ["top_k", "top-k {value} set by hand"],
    ["top_p", "top-p {value} set by hand"],
  ];

const methodText = ({ method, beam, seed }: Settings): string => {
  if (method === "beam") return t("beam {n}", { n: beam });
  return method === "sample" ? t("sampled, seed {n}", { n: seed }) : t("greedy");
};

/**
 * How a translation was decoded; a setting that differs from the checkpoint's own is named with its
 * value.
 */
export const settingsText = ({
  settings,
  own,
  prefix,
}: Pick<Translation, "settings" | "own" | "prefix">): string => {
  const { method, max_length } = settings;
  const byHand = SET_BY_HAND.filter(
    ([name]) => own && METHODS[method].includes(name) && own[name] !== settings[name],
  ).map(([name, said]) => t(said, { value: settings[name] ?? "–" }));
  const given = prefix.length ? [t("its first {n} tokens given", { n: prefix.length })] : [];
  const said = [methodText(settings), ...byHand, ...given].join(", ");
  return max_length ? t("{method}, at most {n} tokens", { method: said, n: max_length }) : said;
};
