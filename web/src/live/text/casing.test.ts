import { beforeAll, describe, expect, it } from "vitest";
import { fixedParts } from "../../test/engine";
import { restored, useCasing, withCasing } from "./casing";
import { loadTokenizer } from "./load";

beforeAll(() => useCasing({ language: "de", words: "Zug\nMünchen\nUSA\nAnna" }));

describe("capitals", () => {
  it.each([
    ["wann fährt der zug nach münchen?", "Wann fährt der Zug nach München?"],
    ["Wann fährt der zug nach münchen?", "Wann fährt der Zug nach München?"],
    ["DER ZUG NACH MÜNCHEN", "Der Zug nach München"],
    ["das ist gut. der zug kommt!  ist anna da?", "Das ist gut. Der Zug kommt!  Ist Anna da?"],
    ["der zug, ca. zwei stunden", "Der Zug, ca. zwei stunden"],
    ["3 züge und ein zug", "3 züge und ein Zug"],
    ["ob's zug'anna gibt", "Ob's Zug'anna gibt"],
    ["ŉzug", "ŉzug"],
    ["", ""],
  ])("of %j come back: %j", (typed, read) => {
    expect(restored(typed, "de")).toBe(read);
  });

  it.each(["Der Mann im zug", "der zug nach Bonn", "NATO", "iPhone und zug", "der eZug"])(
    "of its own leave %j alone",
    (typed) => {
      expect(restored(typed, "de")).toBe(typed);
    },
  );

  it("are unknown in another language", () => {
    expect(restored("der zug", "en")).toBe("der zug");
  });

  it("are given back to what a source's tokenizer is given, and its places stay", async () => {
    const file = await fixedParts().src;
    const plain = loadTokenizer(file);
    const cased = withCasing(loadTokenizer(file));
    expect(cased.ids("der zug")).toEqual(plain.ids("Der Zug"));
    expect(cased.encode("der zug").normalised.text).toBe("Der Zug");
    expect(cased.encode("der zug").tokens[0]!.span![0]).toBe(0);
    const small = { ...file, config: { ...file.config, lowercase: true } };
    const other = withCasing(loadTokenizer(small));
    expect(other.ids("der zug")).toEqual(loadTokenizer(small).ids("der zug"));
  });
});
