import { describe, expect, it } from "vitest";
import { judge, type Judged } from "./roles";

/** A head of which nothing is to be said; keys are ten, so that one in ten is chance. */
const NOTHING: Judged = {
  ...{ relative_entropy: 0.5, special: 0, punctuation: 0, previous: 0, same: 0, next: 0 },
  ...{ content_confidence: 0.2, on_content: 0, distinct: 0 },
  ...{ read_content_confidence: 0.2, read_on_content: 0, read_distinct: 0 },
  ...{ even_previous: 0.1, even_same: 0.1, even_next: 0.1, even_sink: 0.1, even_confidence: 0.1 },
};
const head = (more: Partial<Judged>) => ({ ...NOTHING, ...more });
const ALIGNS = { content_confidence: 0.9, on_content: 0.8, distinct: 0.7 };

describe("the role of a head", () => {
  it.each<[Partial<Judged>, string, number]>([
    [{ previous: 0.9 }, "previous", 0.9],
    [{ same: 0.9 }, "same", 0.9],
    [{ next: 0.9 }, "next", 0.9],
    [{ special: 0.5, punctuation: 0.3 }, "sink", 0.8],
    [{ relative_entropy: 0.9 }, "diffuse", 0.9],
  ])("with %j is %s", (more, role, share) => {
    expect(judge(head(more), "encoder")).toEqual({ role, near: "", share, reading: "" });
  });

  it("is the one that exceeds its bar most", () => {
    expect(judge(head({ previous: 0.6, next: 0.7 }), "decoder").role).toBe("next");
    expect(judge(head({ previous: 0.7, next: 0.6 }), "decoder").role).toBe("previous");
  });

  it("is none below every bar; the nearest is told from half of its bar on", () => {
    expect(judge(head({ previous: 0.4 }), "encoder")).toMatchObject({
      ...{ role: "mixed", near: "previous", share: 0.4 },
    });
    const far = { role: "mixed", near: "", share: 0 };
    expect(judge(head({ previous: 0.25 }), "encoder")).toMatchObject(far);
    expect(judge(head({ relative_entropy: 0.75 }), "encoder")).toMatchObject(far);
  });

  it("counts what is beyond chance alone", () => {
    const rare = { previous: 0.55, even_previous: 0.1 };
    expect(judge(head(rare), "decoder").role).toBe("previous");
    expect(judge(head({ ...rare, even_previous: 0.5 }), "decoder").role).toBe("mixed");
    expect(judge(head({ special: 1, even_sink: 1 }), "decoder").role).toBe("mixed");
  });

  it("of places is none of cross-attention, nor does self-attention align", () => {
    expect(judge(head({ previous: 0.9, same: 0.9, next: 0.9 }), "cross").role).toBe("mixed");
    expect(judge(head(ALIGNS), "encoder").role).toBe("mixed");
  });
});

describe("a head that aligns", () => {
  it("does so by as many rows as are on content and apart", () => {
    const found = judge(head(ALIGNS), "cross");
    expect(found).toEqual({ role: "aligns", near: "", share: 0.7, reading: "output" });
  });

  it("may do so by what it reads, where that is clearer", () => {
    const read = { read_content_confidence: 0.95, read_on_content: 0.9, read_distinct: 0.9 };
    expect(judge(head({ ...ALIGNS, ...read }), "cross")).toMatchObject({
      ...{ role: "aligns", share: 0.9, reading: "input" },
    });
  });

  it("must be sharp", () => {
    expect(judge(head({ ...ALIGNS, content_confidence: 0.3 }), "cross").role).toBe("mixed");
    expect(judge(head({ ...ALIGNS, content_confidence: 0.3 }), "cross").near).toBe("aligns");
  });

  it("does not where a corpus says otherwise, and by the reading that the corpus says", () => {
    const rated = (rate: number, reading: "output" | "input" = "output") =>
      judge(head(ALIGNS), "cross", { rate, reading });
    expect(rated(0.2).role).toBe("aligns");
    expect(rated(0.6).role).toBe("mixed");
    expect(rated(0.2, "input").role).toBe("mixed"); // by which it does not align here
  });
});
