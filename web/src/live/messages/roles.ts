/* Which role describes a head best, and how much of it: the judgement of translator/analysis/roles.py. */

import type { Kind, Reading, Role } from "../../protocol/messages";

const BARS = { previous: 0.4, same: 0.4, next: 0.4, sink: 0.4, aligns: 0.55, diffuse: 0.8 };
const ALIGNED_CONFIDENCE = 0.35;
const ALIGNED_RATE = 0.5;
export const READINGS: readonly Reading[] = ["output", "input"];

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

/** The role that exceeds its bar most; "mixed" where none reaches it. */
export function judge(
  m: Judged,
  kind: Kind,
  measured?: Rate,
): { role: Role; share: number; reading: Reading | "" } {
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
    beyond.aligns = found.fits ? found.share : 0;
  } else
    for (const name of ["previous", "same", "next"] as const) {
      shares[name] = m[name];
      beyond[name] = beyondChance(m[name], m[`even_${name}`]);
    }
  const excess = (name: Named) => beyond[name]! / BARS[name];
  const names = ORDER.filter((name) => name in beyond);
  const best = names.reduce((lead, name) => (excess(name) > excess(lead) ? name : lead));
  if (excess(best) < 1) return { role: "mixed", share: 0, reading: "" };
  return { role: best, share: shares[best]!, reading: best === "aligns" ? reading : "" };
}

function beyondChance(share: number, chance: number): number {
  return Math.max(share - chance, 0) / Math.max(1 - chance, 1e-9);
}

/** By the better reading: the share of rows that align, whether the head may be said to, and the reading. */
function aligned(m: Judged, measured?: Rate): { share: number; fits: boolean; reading: Reading } {
  const both = [
    { share: Math.min(m.on_content, m.distinct), sharp: m.content_confidence },
    { share: Math.min(m.read_on_content, m.read_distinct), sharp: m.read_content_confidence },
  ] as const;
  const [output, input] = both.map(({ share, sharp }) => share * sharp) as [number, number];
  const by = measured ? READINGS.indexOf(measured.reading) : Number(input > output);
  const { share, sharp } = both[by]!;
  const sharpEnough = beyondChance(sharp, m.even_confidence) >= ALIGNED_CONFIDENCE;
  return {
    share,
    fits: sharpEnough && (!measured || measured.rate <= ALIGNED_RATE),
    reading: READINGS[by]!,
  };
}
