import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Explorer } from "../../tabs/explorer/explorer";
import { TestContext } from "../../test/context";
import { payload } from "../../test/example";

// Modules of its own: another file may have fetched an example ahead, or left the page busy.
let makeExamples: typeof import("./examples").makeExamples;
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("./busy", () => ({ isBusy: () => false }));
  ({ makeExamples } = await import("./examples"));
});
afterAll(() => {
  vi.doUnmock("./busy");
  vi.resetModules();
});

const EXAMPLES = [
  { id: "de-en-in-den", direction: "de-en", text: "Ich gehe in den Park.", name: "in den" },
  { id: "second", direction: "de-en", text: "Das Haus", weakness: "too literal" },
  { id: "other", direction: "en-zh", text: "My father", name: "father" },
];
const props = { isSettled: () => true, busy: vi.fn(), announce: vi.fn() };
let x: TestContext;
let shown: string[];
const notice = vi.fn();
const empty = vi.fn();
let answers: Map<string, (ok: boolean) => void>;

beforeEach(() => {
  window.__explorerData = {
    ...{ examples: EXAMPLES, address: "stored/", settings: [] },
    directions: ["de-en", "en-zh"],
  };
  for (const name of ["IntersectionObserver", "ResizeObserver"])
    vi.stubGlobal(
      name,
      class {
        observe() {}
        disconnect() {}
      },
    );
  answers = new Map();
  vi.stubGlobal("fetch", (address: string) => {
    const id = /stored\/(.*)\.json/.exec(address)![1]!;
    return new Promise((done) =>
      answers.set(id, (ok) => done({ ok, json: async () => ({ ...payload(), source: id }) })),
    );
  });
  x = new TestContext();
  shown = [];
  for (const each of [notice, empty, props.busy, props.announce]) each.mockReset();
  const show = ({ source }: { source: string }) => void shown.push(source);
  Object.assign(x, { notice, empty, show });
  document.body.insertAdjacentHTML(
    "beforeend",
    `<div id="source-text"><textarea></textarea></div><div id="direction">
      <input type="radio" value="de-en" checked><input type="radio" value="en-zh"></div>`,
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  delete window.__explorerData;
});
const made = () => makeExamples(x as unknown as Explorer, props);
const text = () => document.querySelector<HTMLTextAreaElement>("#source-text textarea")!;
const come = async (id: string, ok = true) => {
  answers.get(id)!(ok);
  await new Promise((done) => setTimeout(done));
};

it("those of the direction are offered: the named as buttons, all in a list", () => {
  made().offer();
  const pills = [...x.find(".examples").children].map((each) => each.textContent);
  expect(pills).toEqual(["in den"]);
  expect(x.find(".try").classList).toContain("offers");
  const options = [...x.find<HTMLSelectElement>(".more-examples").options];
  expect(options.slice(1).map(({ value }) => value)).toEqual(["de-en-in-den", "second"]);
});

describe("one that is opened", () => {
  it("fills the field at once, and is shown when it has come", async () => {
    void made().open("second");
    expect(text().value).toBe("Das Haus");
    expect(shown).toEqual([]);
    await come("second");
    expect(shown).toEqual(["second"]);
    expect(props.announce).toHaveBeenCalledTimes(1);
    expect(notice.mock.calls.map(([said]) => said)).toEqual(["", "too literal"]);
  });

  it("gives way to one that is opened later, whichever comes first", async () => {
    const examples = made();
    void examples.open("second");
    void examples.open("de-en-in-den");
    await come("de-en-in-den");
    await come("second");
    expect(shown).toEqual(["de-en-in-den"]);
    expect(examples.meant()).toBe("de-en-in-den");
  });

  it("is not shown where something else was asked for since", async () => {
    const examples = made();
    void examples.open("second");
    examples.forget();
    await come("second");
    expect(shown).toEqual([]);
  });

  it("by itself leaves what the page says of its address", async () => {
    void made().open("de-en-in-den", true);
    await come("de-en-in-den");
    expect(notice).not.toHaveBeenCalled();
  });

  it("that is not stored leaves what is shown, or says what to press where nothing is", async () => {
    const examples = made();
    void examples.open("second");
    await come("second", false);
    expect(empty).not.toHaveBeenCalled();
    Object.assign(x, { trace: null });
    void examples.open("second");
    await come("second", false);
    expect(empty.mock.calls[0]![0]).toContain("not stored");
  });
});

describe("another direction", () => {
  const turn = () => {
    for (const radio of document.querySelectorAll<HTMLInputElement>("#direction input"))
      radio.checked = radio.value === "en-zh";
  };
  it.each([
    ["", true],
    ["Das Haus", true], // an example of the former direction
    ["Mein eigener Satz", false],
  ])("with %j in the field opens its example: %s", (typed, follows) => {
    const examples = made();
    text().value = typed;
    turn();
    expect(examples.follow()).toBe(follows);
    expect([...answers.keys()]).toEqual(follows ? ["other"] : []);
  });
});
