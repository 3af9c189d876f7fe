import { describe, expect, it } from "vitest";
import { directionInSearch, readDirection, writeDirection } from "./direction";

describe("a direction", () => {
  it("is a name, or a name with two languages, and is written as it was read", () => {
    for (const written of ["de-en", "owner/nllb@abc:deu_Latn-eng_Latn", "m2m100:de-zh"]) {
      const { name, pair } = readDirection(written);
      expect(writeDirection(name, pair)).toBe(written);
    }
    expect(readDirection("m2m100:de-zh")).toEqual({
      name: "m2m100",
      pair: { src: "de", tgt: "zh" },
    });
    expect(readDirection("de-en").pair).toBeNull();
    expect(readDirection("m2m100:de").pair).toBeNull();
  });

  it("stands in an address as a whole, or with its languages by name", () => {
    const all = ["de-en", "m2m100"];
    expect(directionInSearch("?direction=m2m100:de-zh", all)).toBe("m2m100:de-zh");
    expect(directionInSearch("?direction=m2m100&src=de&tgt=zh", all)).toBe("m2m100:de-zh");
    expect(directionInSearch("?src=de&tgt=en", all)).toBe("de-en");
    expect(directionInSearch("?src=zh&tgt=en", ["m2m100"])).toBe("m2m100:zh-en");
    expect(directionInSearch("?direction=de-en", all)).toBe("de-en");
    expect(directionInSearch("", all)).toBeNull();
  });
});
