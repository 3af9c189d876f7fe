import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from "vitest";
import boardSaid from "../../../../tests/protocol/lab_board.json";
import switchSaid from "../../../../tests/protocol/lab_switch.json";
import type { LabRequest, LabServer } from "../../protocol/lab";
import { askLab, takeQuestion } from "../../state/ask";
import { blankCanvases } from "../../test/context";
import type { PageFields } from "../page";
import { mountLab } from "./lab";

let way = "de-en";
const page = {
  field: () => null,
  direction: () => way,
  setDirection: (direction: string) => void (way = direction),
  settled: Promise.resolve(),
} as unknown as PageFields;

beforeEach(() => {
  blankCanvases();
  way = "de-en";
  takeQuestion();
  const view = (name: string) => ({ name, title: name, says: "", source: "", fields: [] });
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: ["de-en"] },
    lab: [
      { name: "matter", title: "matter", views: [view("profile")] },
      { name: "believe", title: "believe", views: [view("arena")] },
    ],
  };
});
/** What a page's one lab listens to for good. */
const heard: [type: string, listener: EventListener][] = [];
afterEach(() => {
  for (const listening of heard.splice(0)) removeEventListener(...listening);
  vi.restoreAllMocks();
  delete window.__explorerData;
});

const find = <E extends HTMLElement>(selector: string) => document.querySelector<E>(selector)!;
const turn = () => new Promise((done) => setTimeout(done));
/** A lab whose server answers by the stored messages, unless it is told otherwise. */
type Name = "lab_board" | "lab_switch" | "lab_ask" | "lab_stop";
const lab = (more: Partial<Record<Name, Mock>> = {}) => {
  const server: Record<Name, Mock> = {
    lab_board: vi.fn(async ({ kind }: LabRequest & { kind: string }) => ({ ...boardSaid, kind })),
    lab_switch: vi.fn(async () => switchSaid),
    lab_ask: vi.fn(async () => ({ lines: [["An answer", {}]], id: "x" })),
    lab_stop: vi.fn(async () => ({})),
    ...more,
  };
  document.body.innerHTML = '<main></main><div id="direction"><input type="radio"></div>';
  const listens = vi.spyOn(globalThis, "addEventListener");
  mountLab(find("main"), server as unknown as LabServer, page);
  heard.push(...(listens.mock.calls as [string, EventListener][]));
  listens.mockRestore();
  return server;
};
const type = (text: string) => {
  find<HTMLInputElement>("#lab-text").value = text;
  find("#lab-text").dispatchEvent(new Event("input"));
};
const run = async (text = "Guten Morgen!") => {
  type(text);
  find<HTMLFormElement>(".lab-ask").requestSubmit();
  await turn();
};
const error = () => (find(".lab-error").hidden ? "" : find(".lab-error").textContent);

describe("a run", () => {
  it("says that heads are being switched off while they are, and what starts it before and after", async () => {
    const never = new Promise<never>(() => {});
    const { lab_stop } = lab({ lab_board: vi.fn(() => never) });
    const said = () => find(".lab-grid").textContent;
    const START = "Press Run to switch off each head in turn.";
    expect(said()).toBe(START);
    await run();
    expect(said()).toBe("Each head is being switched off alone …");
    find(".lab-stop").click();
    expect(said()).toBe(START);
    expect(lab_stop).toHaveBeenCalledTimes(1);
    expect(find(".lab-progress").textContent).toBe("Stopped.");
  });

  it("measures each attention, translates without heads once, and asks the view", async () => {
    const { lab_board, lab_switch, lab_ask } = lab();
    await run();
    const kinds = lab_board.mock.calls.map(([{ kind }]) => kind);
    expect([...kinds].sort()).toEqual(["cross", "decoder", "encoder"]);
    const asked = { text: "Guten Morgen!", direction: "de-en", target: null };
    expect(lab_board).toHaveBeenCalledWith(expect.objectContaining(asked));
    expect(lab_switch).toHaveBeenCalledTimes(1);
    expect(lab_ask).toHaveBeenCalledWith(expect.objectContaining({ ...asked, view: "profile" }));
    expect(find(".lab-lines").textContent).toBe("An answer");
    expect(find(".after").textContent).toContain(switchSaid.after.text);
    expect(find(".lab").getAttribute("aria-busy")).toBe("false");
  });

  it("that is refused says why, until the next one begins", async () => {
    const lab_board = vi.fn().mockResolvedValueOnce({ error: "the text is blank" });
    lab({ lab_board: lab_board.mockReturnValue(new Promise(() => {})) });
    await run(" ");
    expect(error()).toBe("The text is blank");
    expect(find(".lab-run").hidden).toBe(false);
    await run();
    expect(error()).toBe("");
  });

  it("without a server says so", async () => {
    lab({ lab_board: vi.fn(() => Promise.reject(new Error("gone"))) });
    await run();
    expect(error()).toContain("No answer from the server");
  });

  it("that another one overtakes changes nothing any more", async () => {
    let answer: (value: never) => void;
    const lab_board = vi.fn().mockReturnValueOnce(new Promise((done) => (answer = done)));
    const { lab_switch } = lab({ lab_board: lab_board.mockResolvedValue({ error: "second" }) });
    await run("One.");
    await run("Two.");
    answer!(boardSaid as never);
    await turn();
    expect(lab_switch).not.toHaveBeenCalled();
    expect(error()).toBe("Second");
  });
});

describe("heads that are off", () => {
  it("are sent with the next translation, and what changed is shown", async () => {
    const { lab_switch } = lab();
    await run();
    find('.lab-grid [data-head="cross:0:0"]').click();
    find(".lab-again").click();
    await turn();
    expect(lab_switch).toHaveBeenCalledTimes(2);
    const [{ gates }] = lab_switch.mock.lastCall!;
    expect(gates.cross.flat()).toEqual([0, 1, 1, 1]);
  });

  it("are not asked about before anything is known", async () => {
    const { lab_switch } = lab();
    find(".lab-again").click();
    await turn();
    expect(lab_switch).not.toHaveBeenCalled();
  });
});

describe("the lab", () => {
  const question = {
    ...{ view: "arena", options: {}, text: "Das Haus.", target: [5, 2], direction: "en-zh" },
  };

  it("answers what is asked elsewhere, about the very translation, without its switchboard", async () => {
    const { lab_board, lab_ask } = lab();
    askLab(question);
    await turn();
    expect(way).toBe("en-zh");
    expect(find<HTMLInputElement>("#lab-text").value).toBe("Das Haus.");
    const asked = { view: "arena", text: "Das Haus.", target: [5, 2], direction: "en-zh" };
    expect(lab_ask).toHaveBeenCalledWith(expect.objectContaining(asked));
    expect(lab_board).not.toHaveBeenCalled();
    expect(find(".lab-top").hidden).toBe(true);
  });

  it("takes what was asked before it was there", async () => {
    askLab(question);
    const { lab_ask } = lab();
    await turn();
    expect(lab_ask).toHaveBeenCalledWith(expect.objectContaining({ text: "Das Haus." }));
  });

  it("asks about the model's own translation once another sentence is typed", async () => {
    const { lab_ask } = lab();
    askLab(question);
    await turn();
    await run("Ein Haus.");
    expect(lab_ask).toHaveBeenLastCalledWith(
      expect.objectContaining({ text: "Ein Haus.", target: null }),
    );
  });

  it("knows nothing any more in another direction", async () => {
    lab();
    await run();
    find("#direction input").dispatchEvent(new Event("change", { bubbles: true }));
    expect(find(".lab-grid").textContent).toBe("Press Run to switch off each head in turn.");
    expect(find(".after").textContent).toBe("");
    expect(find(".lab-lines").textContent).toBe("");
  });
});
