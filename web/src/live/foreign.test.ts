import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";

const classify = vi.fn<(text: string, wanted: readonly string[]) => [string, number]>();
let known: typeof import("./foreign");
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("./text/languages", () => ({ classify }));
  known = await import("./foreign");
});
afterAll(() => {
  vi.doUnmock("./text/languages");
  vi.resetModules();
});
beforeEach(() => void classify.mockReset().mockReturnValue(["en", 0.99]));

const NAMES = ["de-en", "en-zh", "own"];
const of = (text: string, language = "de", names = NAMES) => known.foreign(names, language, text);

it("a text in another language of the page is named, with the direction that reads it", () => {
  expect(of("the old house")).toEqual({ language: "en", switch: "en-zh" });
  const [text, wanted] = classify.mock.lastCall!;
  expect([text, new Set(wanted)]).toEqual(["the old house", new Set(["de", "en", "zh"])]);
  expect(of("the old house", "de", ["de-en"])).toEqual({ language: "en", switch: "" });
});

it("nothing is said of its own language, nor where it is not sure", () => {
  classify.mockReturnValue(["de", 0.99]);
  expect(of("das alte Haus")).toEqual({});
  classify.mockReturnValue(["en", 0.94]);
  expect(of("the old house")).toEqual({});
  classify.mockReturnValue(["en", 0.95]);
  expect(of("the old house")).not.toEqual({});
});

it.each(["house", "a b 1", "12 34", ""])("nothing is said of %j, which is too little", (text) => {
  expect(of(text)).toEqual({});
  expect(classify).not.toHaveBeenCalled();
});

it("Chinese is known by its characters, where the page has it", () => {
  expect(of("我很好")).toEqual({ language: "zh", switch: "" });
  expect(of("我很好", "de", ["de-en", "zh-en"]).switch).toBe("zh-en");
  expect(of("我很好", "zh")).toEqual({});
  expect(of("我很好", "de", ["de-en"])).toEqual({});
  expect(classify).not.toHaveBeenCalled();
  expect(of("我 the old house")).toMatchObject({ language: "en" }); // mostly letters
});

it("nothing is said where the checkpoint does not know its own language", () => {
  expect(of("the old house", "und")).toEqual({});
});
