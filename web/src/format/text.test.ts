import { expect, it } from "vitest";
import { csvCell, cut, escapeHtml, sentence } from "./text";

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

it.each([
  ["nothing to translate: the text is blank", "Nothing to translate: the text is blank"],
  ["über dem Limit", "Über dem Limit"],
  ["en-zh is not available", "en-zh is not available"],
  ["max_length is 9", "max_length is 9"],
  ["m2m100 is being fetched", "m2m100 is being fetched"],
  ["“Step” is 5", "“Step” is 5"],
  ["没有可翻译的内容", "没有可翻译的内容"],
  ["", ""],
])("%s begins as a sentence, unless with a name", (text, said) => {
  expect(sentence(text)).toBe(said);
});
