import { beforeAll, describe, expect, it } from "vitest";
import { TestContext, blankCanvases } from "../../test/context";
import { makeReadout } from "./readout";

describe("the read-out", () => {
  beforeAll(blankCanvases);

  it("tells the strongest key of the present row", () => {
    const x = new TestContext();
    x.shows(makeReadout);
    const { z, columns } = x.picture();
    const key = columns[z[1].indexOf(Math.max(...z[1]))].text;
    const said = x.find(".readout").textContent!;
    for (const word of [x.trace.reads[1].s, x.trace.tgt[1].s, key]) expect(said).toContain(word);
  });

  it("tells the cell that is pointed at, to four places", () => {
    const x = new TestContext();
    x.shows(makeReadout);
    x.set({ hover: { i: 2, j: 0 } });
    expect(x.find(".readout").textContent).toContain(x.picture().z[2][0].toFixed(4));
  });

  it("gives way to what another part says, and comes back", () => {
    const x = new TestContext();
    const readout = x.shows(makeReadout);
    const before = x.find(".readout").textContent;
    readout.say(["another sentence"]);
    x.set({ step: 2 });
    expect(x.find(".readout").textContent).toBe("another sentence");
    readout.say(null);
    x.set({ step: 1 });
    expect(x.find(".readout").textContent).toBe(before);
  });
});
