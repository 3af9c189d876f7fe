import { describe, expect, it } from "vitest";
import { AUTOMATIC, CONTROLLED, usedSettings, valueIn } from "./settings";

const named = (name: string) => CONTROLLED.find((each) => each.name === name)!;
const blanks = ({ control }: (typeof CONTROLLED)[number]) => control.blank as string | number;

describe("the settings that a page asks for", () => {
  it.each(CONTROLLED.filter(({ control }) => control.kind === "text"))(
    "$name is a number with a point or a comma, or what was typed",
    (each) => {
      expect(valueIn(" 0,5 ", each)).toBe(0.5);
      expect(valueIn("0.5", each)).toBe(0.5);
      expect(valueIn(" half ", each)).toBe("half");
      expect(valueIn("", each)).toBe("");
    },
  );

  it("left blank are the checkpoint's", () => {
    expect(usedSettings(AUTOMATIC, blanks)).toEqual({});
    expect(usedSettings("greedy", blanks)).toEqual({ method: "greedy" });
  });

  it.each(CONTROLLED.filter(({ method }) => method))("$name is used by its own method", (each) => {
    const value = (other: (typeof CONTROLLED)[number]) =>
      other.name === each.name ? 3 : blanks(other);
    expect(usedSettings(each.method!, value)).toEqual({ method: each.method, [each.name]: 3 });
    expect(usedSettings("none of them", value)).toEqual({ method: "none of them" });
  });

  it("of every method are used by all", () => {
    const each = CONTROLLED.find(({ method }) => !method)!;
    const value = (other: (typeof CONTROLLED)[number]) =>
      other.name === each.name ? 2 : blanks(other);
    expect(usedSettings(AUTOMATIC, value)).toEqual({ [each.name]: 2 });
    expect(named(each.name)).toBe(each);
  });
});
