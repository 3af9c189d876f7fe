import { afterEach, expect, it, vi } from "vitest";
import type { TracePayload } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import type { Explorer } from "../../tabs/explorer/explorer";
import { example, payload } from "../../test/example";
import { makeBeginning } from "./beginning";

afterEach(() => void document.body.classList.remove("busy"));

const PREFIX = [7, 8, 9];
const made = (resume: (request: object) => Promise<unknown>) => {
  const trace = example();
  const x = { trace, notice: vi.fn(), show: vi.fn(), set: vi.fn() };
  let number = 0;
  const props = {
    server: { resume: vi.fn(resume) } as unknown as ExplorerServer,
    busy: vi.fn(),
    next: () => ++number,
    last: () => number,
    announce: vi.fn(),
  };
  return { x, props, ...makeBeginning(x as unknown as Explorer, props) };
};

it("goes on from a candidate with the settings that are shown, and says so", async () => {
  const answer = payload("en-zh-father") as TracePayload;
  const { x, props, resume } = made(async () => answer);
  await resume({ prefix: PREFIX, word: "house" });
  const { source: text, direction, settings } = x.trace;
  expect(props.server.resume).toHaveBeenCalledExactlyOnceWith({
    ...{ text, direction, settings, prefix: PREFIX },
  });
  expect(x.show).toHaveBeenCalledExactlyOnceWith(answer);
  expect(props.announce).toHaveBeenCalledExactlyOnceWith(answer);
  expect(x.set).toHaveBeenCalledExactlyOnceWith({ step: 2 });
  expect(x.notice.mock.calls[0]![0]).toContain("From step 3 on translated with house.");
  expect(props.busy.mock.calls).toEqual([[true], [false]]);
});

it("shows nothing and says why where it is refused, or nobody answers", async () => {
  for (const [answer, said] of [
    [async () => ({ error: "the text is blank" }), "the text is blank"],
    [async () => Promise.reject(new Error("gone")), "No answer from the server."],
  ] as const) {
    const { x, resume, props } = made(answer);
    await resume({ prefix: PREFIX, word: "house" });
    expect([x.show, x.set].map((each) => each.mock.calls.length)).toEqual([0, 0]);
    expect(x.notice).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(said), true);
    expect(props.busy).toHaveBeenLastCalledWith(false);
  }
});

it("what comes after something else was asked for is not shown", async () => {
  const { x, props, resume } = made(async () => {
    props.next();
    return payload();
  });
  await resume({ prefix: PREFIX, word: "house" });
  expect([x.show, x.set, x.notice].map((each) => each.mock.calls.length)).toEqual([0, 0, 0]);
  expect(props.busy.mock.calls).toEqual([[true]]); // it is the other's to end
});

it("begins nothing while something is under way", async () => {
  document.body.classList.add("busy");
  const { props, resume } = made(async () => payload());
  await resume({ prefix: PREFIX, word: "house" });
  expect(props.server.resume).not.toHaveBeenCalled();
});

it("a link's translation is said to begin as the link says", async () => {
  const { x, follow } = made(async () => payload());
  await follow({ text: "Haus", direction: "de-en", settings: {}, prefix: [1] } as never);
  const word = x.trace.tgt[0]!.s;
  expect(x.notice.mock.calls[0]![0]).toContain(`From step 1 on translated with ${word}.`);
});
