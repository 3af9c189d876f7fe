import { describe, expect, it } from "vitest";
import type { HeadTable } from "../protocol/messages";
import { nearestTold, roleTold, strongestHead } from "./roles";
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
    expect(roleTold({ role: "previous", share: 0.754 })).toBe(
      "Looks one token back, 75% of its rows",
    );
    expect(roleTold({ role: "sink", share: 0.6 })).toBe(
      "Attends to special tokens and punctuation, 60% of its weight",
    );
  });
  it("says by which reading a head aligns, and no share where there is no role", () => {
    expect(roleTold({ role: "aligns", share: 1, reading: "input" })).toBe(
      "Aligns the word that a row reads, 100% of its words",
    );
    expect(roleTold({ role: "mixed", share: 0 })).toBe("No single role");
  });
  it("names the nearest role of a head that has none, where one is near", () => {
    const head = { role: "mixed", near: "previous", share: 0.35, reading: "" } as const;
    expect(roleTold(head)).toBe("No single role");
    expect(nearestTold(head)).toBe("nearest: Looks one token back, 35% of its rows");
    expect(nearestTold({ role: "mixed", near: "", share: 0, reading: "" })).toBe("");
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
