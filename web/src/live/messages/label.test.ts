import { describe, expect, it } from "vitest";
import { label, plain } from "./label";

describe("a token as it is shown", () => {
  it.each([
    ["", "·"],
    [" the", "␣the"],
    ["a\tb", "a b"],
    ["a\u200bb", "a·b"],
    ["\u0301", "◌\u0301"],
    ["שלום", "\u2068שלום\u2069"],
    ["x\ud800", "x\ufffd"],
  ])("%j is %j", (text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it("is cut where it is long, and never between a letter and its marks", () => {
    expect(plain("abcdefgh", 4)).toBe("abc…");
    expect(plain("abe\u0301fgh", 4)).toBe("ab…");
    expect(plain("abcd", 4)).toBe("abcd");
  });

  it("is escaped for figures", () => {
    expect(label(`<b>&"`)).toBe("&lt;b&gt;&amp;&#34;");
    expect(label("$x%")).toBe("&#36;x&#37;");
    expect(label("abcdefghijklmnop")).toBe("abcdefghijk…");
    expect(label("abcdefghijklmnop", null)).toBe("abcdefghijklmnop");
  });
});
