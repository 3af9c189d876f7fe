import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fetchAhead, stored } from "./stored";

describe("the translation of an example", () => {
  const fetched = vi.fn();
  beforeEach(() => {
    window.__explorerData = { examples: [], address: "files/", settings: [], directions: [] };
    vi.stubGlobal(
      "fetch",
      fetched.mockImplementation(async () => Response.json({ source: "a" })),
    );
  });
  afterEach(() => {
    delete window.__explorerData;
    fetched.mockReset();
    vi.unstubAllGlobals();
  });

  it("is fetched once if it was fetched ahead, and anew whenever it is asked for again", async () => {
    void fetchAhead("father");
    expect(fetched).toHaveBeenCalledExactlyOnceWith("files/father.json");
    const first = await stored("father");
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(await stored("father")).not.toBe(first);
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("that is not there is told to who asks for it", async () => {
    fetched.mockImplementation(async () => new Response("", { status: 404 }));
    await expect(fetchAhead("father")).resolves.toBeUndefined();
    await expect(stored("father")).rejects.toThrow("404");
  });
});
