import { describe, expect, it } from "vitest";
import type { Settings } from "../protocol/messages";
import { DEFAULTS } from "../protocol/registry";
import { example } from "../test/example";
import { decodingOf, settingsText } from "./settings";

const plain = { ...example().settings, ...DEFAULTS } as Settings;
const told = (settings: Partial<Settings>, own?: Partial<Settings>, prefix: number[] = []) =>
  settingsText({
    settings: { ...plain, ...settings },
    own: own && { ...plain, ...own },
    prefix,
  });

describe("the settings of a translation", () => {
  it("are those that its method uses, and others only where they are not the usual ones", () => {
    const settings: Settings = { ...plain, method: "beam", beam: 3, temperature: 0.5 };
    expect(decodingOf({ settings, automatic: true })).toEqual({});
    const found = decodingOf({ settings, automatic: false });
    expect(found).toMatchObject({ method: "beam", beam: 3 });
    expect(found).not.toHaveProperty("temperature");
    const sampled = decodingOf({ settings: { ...settings, method: "sample" }, automatic: false });
    expect(sampled).toMatchObject({ method: "sample", temperature: 0.5 });
    expect(sampled).not.toHaveProperty("beam");
  });

  it("are told by their method", () => {
    expect(told({ method: "greedy" })).toBe("greedy");
    expect(told({ method: "beam", beam: 4 })).toBe("beam 4");
    expect(told({ method: "sample", seed: 7 })).toBe("sampled, seed 7");
  });

  it("that somebody chose are named, if the method heeds them", () => {
    const own = { length_penalty: 0.6, temperature: 1 };
    const chosen = { length_penalty: 1.5, temperature: 0.5 };
    expect(told({ method: "beam", beam: 4, ...chosen }, own)).toBe(
      "beam 4, length penalty 1.5 set by hand",
    );
    expect(told({ method: "greedy", ...chosen }, own)).toBe("greedy");
  });

  it("say what was given, and how long it may be", () => {
    expect(told({ method: "greedy" }, undefined, [5, 9])).toBe("greedy, its first 2 tokens given");
    expect(told({ method: "greedy", max_length: 12 })).toBe("greedy, at most 12 tokens");
  });
});
