import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { HubList, HubServer } from "../../protocol/hub";
import { offerHub } from "./hub";

const MODEL = {
  id: "x/big",
  size: 3e8,
  licence: "MIT",
  languages: ["de", "en"],
  done: 0,
  error: "",
};
const listed = (state: string, more = {}): HubList => ({
  reached: true,
  models: [{ ...MODEL, name: "big", state, ...more }],
});
let list: HubList;
const server = {
  hub_list: vi.fn<HubServer["hub_list"]>(async () => list),
  hub_fetch: vi.fn<HubServer["hub_fetch"]>(async () => list),
  hub_stop: vi.fn<HubServer["hub_fetch"]>(async () => list),
} satisfies HubServer;
const choose = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  list = listed("");
  for (const each of [...Object.values(server), choose]) each.mockClear();
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [] },
    directions: ["de-en", "big"],
    hub: ["big"],
  };
  document.head.replaceChildren();
  document.body.innerHTML = `<div id="direction"><div class="wrap">
    <label><input type="radio" value="de-en"></label><label><input type="radio" value="big"></label>
  </div></div>`;
  document.querySelector("[value=big]")!.addEventListener("click", choose);
});
afterEach(() => {
  vi.useRealTimers();
  delete window.__explorerData;
});
const settle = () => vi.advanceTimersByTimeAsync(0);
const dialog = () => document.querySelector("dialog")!;
const open = async () => {
  document.querySelector<HTMLElement>(".hub-open")!.click();
  await settle();
};
const press = async (label: string) => {
  [...dialog().querySelectorAll<HTMLElement>("li button")]
    .find((each) => each.textContent === label)!
    .click();
  await settle();
};
/** What the page hides: directions whose models are not here. */
const hidden = () => document.head.querySelector("style")!.textContent;

it("is offered only where the server has a list, and the page names its models", () => {
  offerHub(null);
  offerHub({});
  window.__explorerData!.hub = [];
  offerHub(server);
  expect(document.querySelector(".hub-open")).toBeNull();
});

it("asks the hub itself only for one who looks at the list", async () => {
  offerHub(server);
  await settle();
  expect(server.hub_list.mock.calls).toEqual([[{ looks: false }]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.hub_list).toHaveBeenCalledTimes(1);
  await open();
  expect(server.hub_list).toHaveBeenLastCalledWith({ looks: true });
  await vi.advanceTimersByTimeAsync(3000);
  expect(server.hub_list).toHaveBeenCalledTimes(5);
});

it("hides a direction until its model is here", async () => {
  offerHub(server);
  await settle();
  expect(hidden()).toContain('input[value="big"]');
  list = listed("here");
  await open();
  expect(hidden()).toBe("");
});

it("what was wished for is chosen as soon as it is here", async () => {
  offerHub(server);
  await open();
  list = listed("fetching", { done: 1e8 });
  await press("Fetch");
  expect(server.hub_fetch).toHaveBeenCalledWith({ name: "big", page: expect.any(String) });
  expect(dialog().querySelector("progress")!.value).toBe(1e8);
  expect(choose).not.toHaveBeenCalled();
  list = listed("here");
  await vi.advanceTimersByTimeAsync(1000);
  expect(choose).toHaveBeenCalledTimes(1);
  expect(dialog().open).toBe(false);
  await vi.advanceTimersByTimeAsync(60_000); // nothing is wished for any more
  expect(choose).toHaveBeenCalledTimes(1);
});

it("what was stopped is not chosen when it comes all the same", async () => {
  offerHub(server);
  await open();
  list = listed("fetching");
  await press("Fetch");
  await press("Stop");
  const [[fetched], [stopped]] = [server.hub_fetch.mock.calls[0]!, server.hub_stop.mock.calls[0]!];
  expect(stopped).toEqual(fetched); // by the same page
  list = listed("here");
  await vi.advanceTimersByTimeAsync(1000);
  expect(choose).not.toHaveBeenCalled();
});

it("a refusal is said in the server's words, and so is that nothing answers", async () => {
  offerHub(server);
  await open();
  server.hub_fetch.mockResolvedValueOnce({ error: "the disk is full" } as never);
  await press("Fetch");
  expect(dialog().textContent).toContain("The disk is full");
  server.hub_fetch.mockRejectedValueOnce(new Error("lost"));
  await press("Fetch");
  expect(dialog().textContent).toContain("No answer from the server");
});
