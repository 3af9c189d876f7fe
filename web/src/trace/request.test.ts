import { describe, expect, it } from "vitest";
import { example, payload } from "../test/example";
import { requestOf } from "./request";
import { Translation } from "./translation";

describe("a translation that the server is asked about", () => {
  it("is named by its text, direction, settings and id, and by nothing else", () => {
    const trace = example();
    expect(requestOf(trace)).toEqual({
      text: trace.source,
      direction: trace.direction,
      settings: trace.settings,
      id: trace.id,
    });
  });

  it("names a forced beginning only where it has one", () => {
    expect(requestOf(example())).not.toHaveProperty("prefix");
    const forced = new Translation({ ...payload(), prefix: [7, 410] });
    expect(requestOf(forced).prefix).toEqual([7, 410]);
  });

  it("has the direction of its checkpoint's languages where the server names none", () => {
    const old = { ...payload(), direction: undefined };
    const { src, tgt } = old.checkpoint;
    expect(requestOf(new Translation(old)).direction).toBe(`${src}-${tgt}`);
  });
});
