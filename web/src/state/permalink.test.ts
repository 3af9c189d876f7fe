import { describe, expect, it } from "vitest";
import { example, payload } from "../test/example";
import { Translation } from "../trace/translation";
import { permalink, readPermalink } from "./permalink";
import { FIRST_STATE, type View, within } from "./view";

const trace = example();
const hashOf = (state: View) => new URL(permalink({ trace, state })).hash;

describe("a link", () => {
  it.each<Partial<View>>([
    { kind: "cross", layer: 2, head: 5, step: 3 },
    { kind: "encoder", layer: 0, head: 1, query: 2, view: "arcs" },
    { view: "aggregate", aggregate: "all-max", unit: "word", scale: "root" },
    { specials: "renormalised", renormalise: true },
  ])("brings %o back", (chosen) => {
    const link = readPermalink(hashOf({ ...FIRST_STATE, ...chosen }))!;
    expect(link.text).toBe(trace.source);
    expect(link.direction).toBe(trace.direction);
    expect(within(trace, link.view)).toMatchObject(chosen);
  });

  it("that asks for what is not there is left at what is", () => {
    const link = readPermalink("#t=x&k=none&l=99&h=-1&s=abc&v=pie&u=letter&tp=nan&m=magic&b=4")!;
    expect(within(trace, link.view)).toEqual({});
    expect(link.settings).toEqual({ beam: 4 });
  });

  it("brings a forced beginning back, or none", () => {
    expect(readPermalink(hashOf(FIRST_STATE))!.prefix).toEqual([]);
    const forced = new Translation({ ...payload(), prefix: [7, 0, 410] });
    const link = new URL(permalink({ trace: forced, state: FIRST_STATE })).hash;
    expect(readPermalink(link)!.prefix).toEqual([7, 0, 410]);
    for (const wrong of ["7.x", "-1", "7..9", "", "1e3", "99999999999"])
      expect(readPermalink(`#t=x&p=${wrong}`)!.prefix).toEqual([]);
  });

  it("without a text is none", () => {
    expect(readPermalink("#lesson=tokens")).toBeNull();
  });
});
