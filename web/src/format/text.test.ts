import { expect, it } from "vitest";
import { csvCell, cut, escapeHtml } from "./text";

it("a text is cut at whole characters, and only where it is too long", () => {
  expect(cut("abcdefghijkl")).toBe("abcdefghijkl");
  expect(cut("abcdefghijklm")).toBe("abcdefghijk…");
  expect(cut("𝒜𝒜𝒜𝒜", 3)).toBe("𝒜𝒜…");
});

it("a text in markup is no markup", () => {
  expect(escapeHtml("<b>&amp;")).toBe("&lt;b&gt;&amp;amp;");
});

it.each(["=1+1", "+1", "-1", "@a", "|a", "%a", "\ta", "＝1"])(
  "a spreadsheet opens %s as text",
  (text) => expect(csvCell(text)).toBe("'" + text),
);

it("a cell is quoted where it holds what would end it", () => {
  expect(csvCell('a "b", c')).toBe('"a ""b"", c"');
  expect(csvCell("=a,b")).toBe('"\'=a,b"');
  expect(csvCell("a = b")).toBe("a = b");
});
