/* Which role describes a head best, and how much of it: the judgement of
   translator/analysis/roles.py. */

import type { Kind, Reading, Role } from "../../protocol/messages";

const BARS = { previous: 0.4, same: 0.4, next: 0.4, sink: 0.4, aligns: 0.55, diffuse: 0.8 };
const ALIGNED_CONFIDENCE = 0.35;
const ALIGNED_RATE = 0.5;
export const READINGS: readonly Reading[] = ["output", "input"];

const NEAR = 0.5; // of its bar

type Named = keyof typeof BARS;
const ORDER: readonly Named[] = ["previous", "same", "next", "sink", "aligns", "diffuse"];

/** What of a head's measures decides its role; see Measures in heads.py. */
export interface Judged {
  relative_entropy: number;
  special: number;
  punctuation: number;
  previous: number;
  same: number;
  next: number;
  content_confidence: number;
  on_content: number;
  distinct: number;
  read_content_confidence: number;
  read_on_content: number;
  read_distinct: number;
  even_previous: number;
  even_same: number;
  even_next: number;
  even_sink: number;
  even_confidence: number;
}

/** The alignment error rate of a cross head over hand-aligned pairs by its better reading. */
export interface Rate {
  rate: number;
  reading: Reading;
}

/**
 * The role that exceeds its bar most; "mixed" where none reaches it, and `near` the one that it
 * comes closest to.
 */
export function judge(
  m: Judged,
  kind: Kind,
  measured?: Rate,
): { role: Role; near: Role | ""; share: number; reading: Reading | "" } {
  const sink = m.special + m.punctuation;
  const shares: Partial<Record<Named, number>> = { diffuse: m.relative_entropy, sink };
  const beyond: typeof shares = {
    diffuse: m.relative_entropy,
    sink: beyondChance(sink, m.even_sink),
  };
  let reading: Reading = "output";
  if (kind === "cross") {
    const found = aligned(m, measured);
    reading = found.reading;
    shares.aligns = found.share;
    beyond.aligns = found.counts;
  } else
    for (const name of ["previous", "same", "next"] as const) {
      shares[name] = m[name];
      beyond[name] = beyondChance(m[name], m[`even_${name}`]);
    }
  const role = best(beyond, 1);
  beyond.diffuse = 0; // half the greatest entropy is what most heads have: nothing is near it
  const near = role ? null : best(beyond, NEAR);
  const told = role ?? near;
  return {
    role: role ?? "mixed",
    near: near ?? "",
    share: told ? shares[told]! : 0,
    reading: told === "aligns" ? reading : "",
  };
}

/** The role that reaches most of its bar; null where none reaches that share of its bar. */
function best(beyond: Partial<Record<Named, number>>, least: number): Named | null {
  const reached = (name: Named) => beyond[name]! / BARS[name];
  const names = ORDER.filter((name) => name in beyond);
  const found = names.reduce((lead, name) => (reached(name) > reached(lead) ? name : lead));
  return reached(found) >= least ? found : null;
}

function beyondChance(share: number, chance: number): number {
  return Math.max(share - chance, 0) / Math.max(1 - chance, 1e-9);
}

/** By the better reading: the share of rows that align, how much of it counts, and the reading. */
function aligned(m: Judged, measured?: Rate): { share: number; counts: number; reading: Reading } {
  const both = [
    { share: Math.min(m.on_content, m.distinct), sharp: m.content_confidence },
    { share: Math.min(m.read_on_content, m.read_distinct), sharp: m.read_content_confidence },
  ] as const;
  const [output, input] = both.map(({ share, sharp }) => share * sharp) as [number, number];
  const by = measured ? READINGS.indexOf(measured.reading) : Number(input > output);
  const { share, sharp } = both[by]!;
  const sharpness = beyondChance(sharp, m.even_confidence) / ALIGNED_CONFIDENCE;
  const counts = sharpness >= 1 ? share : Math.min(share, BARS.aligns * sharpness);
  return {
    share,
    counts: measured && measured.rate > ALIGNED_RATE ? 0 : counts,
    reading: READINGS[by]!,
  };
}
