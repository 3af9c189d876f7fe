/* What the kinds of attention and the roles of heads are called. */

import { languagesOf, pageLanguage } from "../i18n/language";
import { languageName } from "../i18n/language-names";
import { type Sentence, t } from "../i18n/words";
import type { Kind, Profile, Role } from "../protocol/messages";
import type { Translation } from "./translation";

/** Every role, in the order in which they are listed. */
export const ROLES: readonly Role[] = [
  "aligns",
  "previous",
  "same",
  "next",
  "sink",
  "diffuse",
  "mixed",
];

const ROLE_NAMES: Record<Role, Sentence> = {
  aligns: "Aligns",
  previous: "Previous",
  same: "Itself",
  next: "Next",
  sink: "Sink",
  diffuse: "Diffuse",
  mixed: "Mixed",
};
const KIND_NAMES: Record<Kind, Sentence> = {
  encoder: "encoder self-attention",
  decoder: "decoder self-attention",
  cross: "cross-attention",
};
const ROLE_SAYS: Record<Role, Sentence> = {
  aligns: "Aligns source and translation",
  previous: "Looks one token back",
  same: "Looks at itself",
  next: "Looks one token ahead",
  sink: "Attends to special tokens and punctuation",
  diffuse: "Spreads evenly",
  mixed: "No single role",
};

export const kindName = (kind: Kind): string => t(KIND_NAMES[kind]);
export const roleName = (role: Role): string => t(ROLE_NAMES[role]);
/** What a role says of a head, as a sentence. */
export const roleSays = (role: Role): string => t(ROLE_SAYS[role]);

/**
 * What a head mostly does over the corpus that its checkpoint was profiled on; one sentence may
 * differ.
 */
export const usually = (
  trace: Translation,
  kind: Kind,
  layer: number,
  head: number,
): { role: Role; text: string; title: string } | null => {
  const { profile } = trace;
  if (!profile || !trace.maps[kind]) return null;
  const at = layer * trace.maps[kind].heads + head;
  const role = profile.roles[kind]?.[at];
  if (!role) return null;
  const over = t("over {n} sentences of {data}", { n: profile.sentences, data: profile.data });
  const rate = kind === "cross" ? errorRate(profile, at) : "";
  const name = roleName(role);
  return {
    role,
    text: t("usually: {role}", { role: pageLanguage() === "en" ? name.toLowerCase() : name }),
    title: [`${roleSays(role)}, ${over}`, rate].filter(Boolean).join(", "),
  };
};

/**
 * How well a cross head aligned the words of pairs that were aligned by hand, and by which reading
 * of its rows.
 */
const errorRate = ({ rates, readings }: Profile, at: number): string => {
  if (rates[at] === undefined) return "";
  const rate = t("alignment error rate {rate}", { rate: rates[at].toFixed(2) });
  if (!readings?.[at]) return rate;
  const by = readings[at] === "output" ? "by what a row predicts" : "by what a row reads";
  return `${rate} ${t(by)}`;
};

/** A checkpoint's name, and its languages where the name does not end in them. */
export const namedModel = ({ checkpoint }: Pick<Translation, "checkpoint">): string => {
  const { name, src, tgt } = checkpoint;
  if (languagesOf(name).length || src === "und") return name;
  return `${name} (${languageName(src)} → ${languageName(tgt)})`;
};
