import { describe, expect, it } from "vitest";
import type { HeadTable } from "../protocol/messages";
import { roleTold, strongestHead } from "./roles";
import type { Translation } from "./translation";

const table = (role: HeadTable["role"], share: number[], confidence: number[]): HeadTable => ({
  role,
  share,
  reading: role.map(() => ""),
  entropy: confidence,
  confidence,
  distance: confidence,
  special: confidence,
  punctuation: confidence,
});
const traceOf = (encoder: HeadTable) =>
  ({ heads: { encoder }, maps: { encoder: { heads: 2 } } }) as unknown as Translation;

describe("roleTold", () => {
  it("names the share of what the role is counted by", () => {
    expect(roleTold("previous", 0.754, "")).toBe("Looks one token back, 75% of its rows");
    expect(roleTold("sink", 0.6, "")).toBe("Rests on specials and punctuation, 60% of its weight");
  });
  it("says by which reading a head aligns, and no share where there is no role", () => {
    expect(roleTold("aligns", 1, "input")).toBe(
      "Aligns the word that a row reads, 100% of its words",
    );
    expect(roleTold("mixed", 0, "")).toBe("No single role");
  });
});

describe("strongestHead", () => {
  it("is the one with the greatest share, and of equals the sharper", () => {
    const roles: HeadTable["role"] = ["previous", "sink", "previous", "previous"];
    const found = traceOf(table(roles, [0.6, 0.9, 0.8, 0.8], [0.9, 0.9, 0.3, 0.5]));
    expect(strongestHead(found, "encoder", "previous")).toEqual([1, 1]);
    expect(strongestHead(found, "encoder", "next")).toBeNull();
  });
});
