import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recall } from "../../dom/storage";
import type { Course, LessonServer, StationAnswer } from "../../protocol/lesson";
import type { Refusal } from "../../protocol/server";
import type { Field, PageFields } from "../page";
import { mountLesson } from "./lesson";

const station = (name: string, title: string) => ({
  ...{ name, title, intro: `of d_model: ${name}`, ask: `${name}?`, options: ["one", "two"] },
  ...{ right: 1, why: `so is ${name}` },
  code: [{ name: "f", path: "a.py", line: 7, code: "def f():\n    return 1  # yes" }],
});
const COURSE: Course = {
  stations: [
    station("tokens", "Text to tokens"),
    station("masks", "Masks"),
    station("heads", "Heads"),
  ],
  words: { "Try again": "Once more" },
};
const answer = (changes: Partial<StationAnswer> = {}): StationAnswer => ({
  views: [{ name: "weights", tensor: "w", shape: [2, 3] }],
  ...{ view: "weights", figure: '{"error": "none"}', numbers: { entropy: "0.5" }, texts: {} },
  controls: [{ name: "layer", kind: "number", value: 1, choices: [], low: 1, high: 6 }],
  ...changes,
});

type Asked = Parameters<LessonServer["station"]>[0] & {
  answer: (given: StationAnswer | Refusal | null) => void;
};
let stop: AbortController;
let seen: () => void;

beforeEach(() => {
  stop = new AbortController();
  const listen = window.addEventListener.bind(window);
  vi.spyOn(window, "addEventListener").mockImplementation(((type: string, run: never) =>
    listen(type, run, { signal: stop.signal })) as never);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(run: () => void) {
        seen = run; // the last that is made: the lesson's own
      }
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  stop.abort();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  localStorage.clear();
  history.replaceState(null, "", "/");
});

const turn = () => new Promise((done) => setTimeout(done));

/**
 * A lesson over a server that answers for a station when it is told to; `course` is what it says of
 * itself.
 */
const lesson = async (course: Promise<Course | Refusal> = Promise.resolve(COURSE)) => {
  document.body.innerHTML = '<textarea id="source-text">Guten Morgen.</textarea><main></main>';
  const asked: Asked[] = [];
  const server: LessonServer = {
    course: vi.fn(() => course),
    station: (request) =>
      new Promise((give) => asked.push({ ...request, answer: (given) => give(given as never) })),
  };
  let settle = () => {};
  const page = {
    field: (id: string) => document.querySelector<Field>("#" + id),
    setField: (node: Field | null, value: string) => void (node!.value = value),
    direction: () => "de-en",
    settled: new Promise<void>((done) => (settle = done)),
  } as unknown as PageFields;
  const element = document.querySelector("main")!;
  mountLesson(element, server, page);
  await turn();
  const find = <E extends Element = HTMLElement>(selector: string) =>
    element.querySelector<E>(selector)!;
  const show = async () => {
    seen();
    settle();
    await turn();
    await turn();
  };
  const answers = async (given: StationAnswer | Refusal | null, n = asked.length - 1) => {
    asked[n].answer(given);
    await turn();
  };
  const click = async (selector: string) => {
    find(selector).click();
    await turn();
  };
  return { server, asked, find, show, answers, click };
};

describe("the lesson", () => {
  it("tells of its station at once, and asks nothing of the sentence until it is seen", async () => {
    const { asked, find, show, answers } = await lesson();
    expect(find("h1").textContent).toBe("Text to tokens");
    expect(find(".where").textContent).toBe("Station 1 of 3");
    expect(find(".intro sub").textContent).toBe("model");
    expect(find(".code code").textContent).toBe(COURSE.stations[0].code[0].code);
    expect(asked).toEqual([]);
    await show();
    seen(); // as large as before
    await turn();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      ...{ station: "tokens", text: "Guten Morgen.", direction: "de-en", options: {}, view: "" },
    });
    expect(find(".lx").getAttribute("aria-busy")).toBe("true");
    await answers(answer());
    expect(find(".lx").hasAttribute("aria-busy")).toBe(false);
    expect(find(".tensor").textContent).toBe("w[2, 3]");
    expect(find(".numbers").textContent).toBe("entropy0.5");
    expect(location.hash).toBe("#lesson=tokens");
  });

  it("shows a sentence's answer that came before its words", async () => {
    let teach: (course: Course) => void = () => {};
    const { find, show, answers } = await lesson(new Promise((done) => (teach = done)));
    await show();
    await answers(answer());
    expect(find(".numbers").textContent).toBe("");
    teach(COURSE);
    await turn();
    expect(find(".numbers").textContent).toBe("entropy0.5");
    expect(find(".answers").children).toHaveLength(2);
  });

  it("asks for what is turned, and shows the answer to what was asked last", async () => {
    const { asked, find, show, answers } = await lesson();
    await show();
    await answers(answer());
    const field = find<HTMLInputElement>("#lesson-layer");
    for (const value of ["2", "3"]) {
      field.value = value;
      field.dispatchEvent(new Event("change"));
      await turn();
    }
    expect(asked.map(({ options }) => options)).toEqual([{}, { layer: 2 }, { layer: 3 }]);
    await answers(answer({ numbers: { entropy: "3" } }), 2);
    await answers(answer({ numbers: { entropy: "2" } }), 1);
    expect(find(".numbers").textContent).toBe("entropy3");
  });

  it("asks for the view that is chosen, and keeps it with its station", async () => {
    const { asked, find, show, answers, click } = await lesson();
    const views = ["scores", "weights"].map((name) => ({ name, tensor: name[0], shape: [] }));
    await show();
    await answers(answer({ views }));
    expect(find(".views").hidden).toBe(false);
    await click(".views button");
    await answers(answer({ views, view: "scores" }));
    expect(find(".views [aria-pressed=true]").textContent).toBe("scores");
    await click(".next");
    await click(".back");
    expect(asked.map(({ station, view }) => [station, view])).toEqual([
      ["tokens", ""],
      ["tokens", "scores"],
      ["masks", ""],
      ["tokens", "scores"],
    ]);
  });

  it("tells a refusal, and asks again only where that may help", async () => {
    const { asked, find, show, answers, click } = await lesson();
    await show();
    await answers({ error: "The sentence is blank." });
    expect(find(".notice").textContent).toBe("The sentence is blank.");
    expect(find(".notice button")).toBeNull();
    expect(find(".frame").hidden).toBe(true);
    find(".ask").dispatchEvent(new Event("submit", { cancelable: true }));
    await turn();
    await answers(null); // the server is gone
    expect(find(".notice button").textContent).toBe("Once more");
    await click(".notice button");
    expect(asked).toHaveLength(3);
    await answers(answer());
    expect(find(".notice").hidden).toBe(true);
    expect(find(".frame").hidden).toBe(false);
  });

  it("learns its words anew where they did not come", async () => {
    const { server, find, click } = await lesson(Promise.reject(new Error("gone")));
    expect(find(".notice").textContent).toContain("No answer from the server.");
    await click(".notice button");
    expect(server.course).toHaveBeenCalledTimes(2);
  });

  it("gives its sentence to the page", async () => {
    const { asked, find, show } = await lesson();
    await show();
    find<HTMLInputElement>("#lesson-text").value = "Das Haus ist alt.";
    find(".ask").dispatchEvent(new Event("submit", { cancelable: true }));
    await turn();
    expect(asked.at(-1)!.text).toBe("Das Haus ist alt.");
    expect(document.querySelector<Field>("#source-text")!.value).toBe("Das Haus ist alt.");
  });

  it("judges an answer that was chosen, and remembers the stations that are done", async () => {
    const { find, click } = await lesson();
    await click(".check");
    expect(find(".why").textContent).toBe("Choose an answer first.");
    const choose = (n: number) => {
      const input = find(".answers").querySelectorAll("input")[n];
      input.checked = true;
      input.dispatchEvent(new Event("change"));
    };
    choose(0);
    expect(find(".why").textContent).toBe("");
    await click(".check");
    expect(find(".why").textContent).toBe("Not quite. so is tokens");
    choose(1);
    await click(".check");
    expect(find(".why").textContent).toBe("Right. so is tokens");
    expect(find(".answers .right").textContent).toBe("two");
    expect(recall("lesson-done")).toBe('["tokens"]');
    expect(find(".stations li svg").getAttribute("aria-label")).toBe("done");
  });

  it("leads to its neighbours, and by a link to any station", async () => {
    const { find, click } = await lesson();
    const ways = () => [".back", ".next"].map((way) => find(way).hidden);
    expect(ways()).toEqual([true, false]);
    await click(".next");
    expect(find("h1").textContent).toBe("Masks");
    expect(location.hash).toBe("#lesson=masks");
    expect(find(".next").textContent).toBe("Next: Heads");
    await click(".stations li:last-child a");
    expect(ways()).toEqual([false, true]);
    expect(find(".stations [aria-current=step]").textContent).toBe("3Heads");
    history.replaceState(null, "", "#lesson=tokens&t=Hallo.&d=de-en");
    dispatchEvent(new Event("hashchange"));
    expect(find("h1").textContent).toBe("Text to tokens");
    expect(find<HTMLInputElement>("#lesson-text").value).toBe("Hallo.");
  });
});
