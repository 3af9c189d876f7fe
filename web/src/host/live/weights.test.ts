import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Refused, Stopped, type Caller, type Listening } from "./client";
import { Weights } from "./weights";

interface Load {
  direction: string;
  how: Listening;
  come: () => void;
  fail: (error: Error) => void;
}
let loads: Load[];
let line: HTMLElement;
let connection: object;
beforeEach(() => {
  loads = [];
  connection = {};
  document.body.innerHTML = "<p></p>";
  line = document.querySelector("p")!;
  Object.defineProperty(navigator, "connection", { configurable: true, get: () => connection });
});
afterEach(() => {
  delete (navigator as { connection?: object }).connection;
  vi.unstubAllGlobals();
});

const made = () => {
  const call = (_: string, { direction }: { direction: string }, how: Listening) =>
    new Promise<object>((done, fail) => {
      loads.push({ direction, how, come: () => done({ bytes: 1 }), fail });
      how.signal?.addEventListener("abort", () => fail(new Stopped()));
    });
  return new Weights(
    line,
    { call } as unknown as Caller,
    () => "de-en",
    () => 30e6,
  );
};
const shown = () => ({
  state: line.dataset.state,
  said: line.querySelector(".said")!.textContent,
  buttons: [...line.querySelectorAll("button")].filter(({ hidden }) => !hidden).map(label),
});
const label = ({ textContent }: Element) => textContent;
const press = (name: string) => line.querySelector<HTMLButtonElement>(`.${name}`)!.click();
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("weights", () => {
  it("keep a button's words under the finger: WebKit forgets a press on what goes", async () => {
    const weights = made();
    weights.prepare("de-en");
    const words = () => [...line.querySelectorAll("button")].map((each) => each.firstChild);
    const before = words();
    loads[0]!.how.progress!(15e6, 30e6);
    document.dispatchEvent(new Event("change"));
    expect(words().every((each, i) => each === before[i])).toBe(true);
  });

  it("are fetched once, however many wait for them, with their bytes told", async () => {
    const weights = made();
    weights.prepare("de-en");
    const waiting = [weights.ready("de-en"), weights.ready("de-en"), weights.underway("de-en")];
    expect(loads).toHaveLength(1);
    loads[0]!.how.progress!(15e6, 30e6);
    expect(shown()).toMatchObject({
      state: "coming",
      said: expect.stringContaining("15.0 of 30.0"),
    });
    expect(line.querySelector("progress")!.value).toBe(0.5);
    expect(shown().buttons).toEqual(["Stop fetching"]);
    loads[0]!.come();
    await Promise.all(waiting);
    expect(shown()).toMatchObject({ state: "here", buttons: ["Remove"] });
  });

  it("are not waited for where none are on their way", async () => {
    await expect(made().underway("de-en")).rejects.toBeInstanceOf(Stopped);
    expect(loads).toHaveLength(0);
  });

  it.each([{ saveData: true }, { effectiveType: "2g" }, { effectiveType: "slow-2g" }])(
    "are asked for first where data is dear: %j",
    async (line) => {
      connection = line;
      const weights = made();
      weights.prepare("de-en");
      const waiting = weights.ready("de-en");
      await settled();
      expect(loads).toHaveLength(0);
      expect(shown()).toMatchObject({ state: "none", buttons: ["Fetch it"] });
      expect(shown().said).toContain("30.0 MB");
      press("go");
      await settled();
      loads[0]!.come();
      await waiting;
      expect(shown().state).toBe("here");
    },
  );

  it("that are not wanted any more are not fetched by a late yes", async () => {
    connection = { saveData: true };
    const weights = made();
    const stopper = new AbortController();
    const waiting = weights.ready("de-en", stopper.signal);
    await settled();
    stopper.abort();
    await expect(waiting).rejects.toBeInstanceOf(Stopped);
    expect(shown().buttons).toEqual([]);
  });

  it("can be stopped, and fetched again", async () => {
    const weights = made();
    const waiting = weights.ready("de-en");
    press("halt");
    await expect(waiting).rejects.toBeInstanceOf(Stopped);
    expect(shown().state).toBe("none");
    const again = weights.ready("de-en");
    expect(loads).toHaveLength(2);
    loads[1]!.come();
    await again;
  });

  it("that do not come say why, and may be tried again", async () => {
    const weights = made();
    const waiting = weights.ready("de-en");
    loads[0]!.fail(new Refused("the host answered 404", true));
    await expect(waiting).rejects.toBeInstanceOf(Refused);
    expect(shown()).toMatchObject({ state: "failed", buttons: ["Try again"] });
    expect(shown().said).toContain("404");
    press("go");
    expect(loads).toHaveLength(2);
  });

  it("are removed from this machine, and fetched anew then", async () => {
    const remove = vi.fn(async () => true);
    vi.stubGlobal("caches", { delete: remove });
    const weights = made();
    const waiting = weights.ready("de-en");
    loads[0]!.come();
    await waiting;
    press("forget");
    await settled();
    expect(remove).toHaveBeenCalledOnce();
    expect(shown()).toMatchObject({ said: "The weights were removed from this machine." });
    void weights.ready("de-en").catch(() => undefined);
    expect(loads).toHaveLength(2);
  });
});
