import { afterEach, expect, it, vi } from "vitest";
import { serverGone } from "./server";

afterEach(() => vi.unstubAllGlobals());

it.each([
  [200, false],
  [404, false],
  [500, false],
  [503, false],
  [502, true],
  [504, true],
])("that a server that answers %i is gone is %s", async (status, gone) => {
  const asked = vi.fn(async () => new Response(null, { status }));
  vi.stubGlobal("fetch", asked);
  expect(await serverGone()).toBe(gone);
  expect(asked).toHaveBeenCalledWith(location.pathname, { method: "HEAD", cache: "no-store" });
});

it("who does not answer at all is gone", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network error")));
  expect(await serverGone()).toBe(true);
});
