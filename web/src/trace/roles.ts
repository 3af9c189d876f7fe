/* Roles of heads: how much of a head a role describes, from where on it is named, which head has it
   most. */

import { percent } from "../i18n/numerals";
import { t } from "../i18n/words";
import type { HeadTable, Kind, Place, Reading, Role } from "../protocol/messages";
import { roleSays } from "./names";
import type { Translation } from "./translation";

/** What is told of a head's role. */
interface Told {
  role: Role;
  near?: Role | "";
  share?: number;
  reading?: Reading | "";
}

/** The role with its share, as it stands beside a head: "Looks one token back, 75% of its rows". */
export const roleTold = ({ role, share, reading }: Told): string => {
  const said =
    role === "aligns" && reading === "input"
      ? t("Aligns the word that a row reads")
      : roleSays(role);
  return share && role !== "mixed"
    ? t("{role}, {share}", { role: said, share: shareOf(role, percent(share)) })
    : said;
};

/** The role that a head without one comes closest to; "": none is near. */
export const nearestTold = ({ near, ...of }: Told): string =>
  near ? t("nearest: {role}", { role: roleTold({ ...of, role: near }) }) : "";

const shareOf = (role: Role, share: string): string => {
  if (role === "sink") return t("{share} of its weight", { share });
  if (role === "diffuse") return t("{share} of the maximum entropy", { share });
  return role === "aligns"
    ? t("{share} of its words", { share })
    : t("{share} of its rows", { share });
};

/** From where on a head is given a role: the bars of translator/analysis/roles.py. */
export const roleBar = (role: Role): string => {
  if (role === "sink")
    return t("At least 40% of its weight, corrected for what uniform attention would give");
  if (role === "diffuse") return t("Its entropy is at least 80% of the maximum");
  if (role === "aligns")
    return t(
      "At least 55% of its words have a clear maximum on a word of their own, and its error rate over hand-aligned pairs is at most 0.5",
    );
  if (role === "mixed") return t("No role reaches its threshold");
  return t("At least 40% of its rows, corrected for what uniform attention would give");
};

/**
 * The head that has a role most, or null where none has it. Without shares (an older page) it is
 * the sharpest.
 */
export const strongestHead = (trace: Translation, kind: Kind, role: Role): Place | null => {
  const table: HeadTable | undefined = trace.heads?.[kind];
  if (!table) return null;
  const { heads } = trace.maps[kind];
  const strength = (at: number): number => {
    if (role === "mixed") return table.confidence[at];
    const share = table.share?.[at] ?? 0;
    return share + table.confidence[at] * 1e-3; // the sharper of two equals
  };
  const found = table.role.flatMap((each, at) => (each === role ? [at] : []));
  if (!found.length) return null;
  const best = found.reduce((lead, at) => (strength(at) > strength(lead) ? at : lead));
  return [Math.floor(best / heads), best % heads];
};
