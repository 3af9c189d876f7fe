import { describe, expect, it } from "vitest";
import { DECODING, DEFAULTS, LIMITS, METHODS, POSITIONS, labField } from "./registry";

describe("the registry", () => {
  it("knows each setting once, and a default of each", () => {
    const names = DECODING.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(DEFAULTS).sort()).toEqual([...names].sort());
  });

  it("gives each setting of one method to that method", () => {
    for (const [method, names] of Object.entries(METHODS))
      expect(names).toEqual(
        DECODING.filter((each) => each.method === method).map(({ name }) => name),
      );
  });

  it.each(DECODING)("has a default of $name that it would take itself", (setting) => {
    const value = DEFAULTS[setting.name];
    if (value === null) return expect(setting.empty).toBe(true);
    const { kind, choices, low = -Infinity, high = Infinity } = setting;
    if (kind === "choice") return expect(choices).toContain(value);
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  });

  it.each(DECODING.filter(({ control }) => control))(
    "asks for $name within its range, or leaves it to the checkpoint",
    ({ low = -Infinity, high = Infinity, control }) => {
      const { blank, kind, ...asked } = control!;
      if (kind === "text") return;
      expect(asked.high).toBeLessThanOrEqual(high);
      if (blank === undefined) expect(asked.low).toBeGreaterThanOrEqual(low);
    },
  );

  it("finds a field of the lab by its view and its name", () => {
    expect(labField("beams", "beam")).toMatchObject({ kind: "whole", low: 2 });
    expect(labField("force", "kind").choices).toContain("cross");
    expect(() => labField("none", "beam")).toThrow();
  });

  it("grants a sentence and a translation some length, and Positions some curves", () => {
    expect(Object.values(LIMITS).every((limit) => Number.isInteger(limit) && limit > 0)).toBe(true);
    expect(POSITIONS.curves_at_most).toBeGreaterThan(0);
  });
});
