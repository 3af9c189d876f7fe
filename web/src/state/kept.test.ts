import { afterEach, describe, expect, it } from "vitest";
import { fragment, keepFragment, typedSince } from "./kept";

afterEach(() => history.replaceState(null, "", location.pathname));

describe("what is kept with the address", () => {
  it("is the address's own fragment until something was shown", () => {
    history.replaceState(null, "", "#t=one");
    expect(fragment()).toBe("#t=one");
    expect(typedSince()).toBe("");
  });

  it("is what was shown last, and what was typed since", () => {
    history.replaceState({ other: 1 }, "", "#t=one");
    keepFragment("#t=two", "three");
    expect([fragment(), typedSince()]).toEqual(["#t=two", "three"]);
    expect(location.hash).toBe("#t=one"); // no server and nobody who copies it sees the rest
    expect(history.state.other).toBe(1);
  });
});
