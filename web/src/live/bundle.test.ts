import { describe, expect, it } from "vitest";
import {
  compiled,
  fixedBundle,
  fixedConfig,
  fixedParts,
  fixedSite,
  fixedWeights,
} from "../test/engine";
import { type ConfigFile, loadBundle } from "./bundle";
import { USUAL } from "./decode/config";

const changed = (changes: Partial<ConfigFile>) => ({ config: { ...fixedConfig(), ...changes } });

describe("a checkpoint", () => {
  it("is called as its config says, and by the hash of its weights", async () => {
    const { info, model, src, tgt } = await fixedBundle();
    const { sha256 } = fixedSite("x").checkpoints.x.weights;
    expect(info).toEqual({ name: "fixed", src: "de", tgt: "en", sha256 });
    expect([src.size, tgt.size]).toEqual([model.config.src_vocab, model.config.tgt_vocab]);
    expect(model.bytes).toBeGreaterThan(fixedWeights().length);
  });

  it("of an older version has the usual where its config names no setting", async () => {
    const decode = { beam: 7 } as ConfigFile["decode"];
    expect((await fixedBundle(changed({ decode }))).decode).toEqual({ ...USUAL, beam: 7 });
  });

  it("spells its target once, when that is asked for", async () => {
    const { spelling } = await fixedBundle();
    expect(spelling()).toBe(spelling());
  });

  it("has a profile and figures where they were fetched", async () => {
    const more = { profile: { rates: [] } as never, figures: {} as never };
    expect(await fixedBundle(more)).toMatchObject(more);
    const bare = await fixedBundle();
    expect([bare.profile, bare.figures]).toEqual([undefined, undefined]);
  });
});

describe("a checkpoint is refused", () => {
  const refusal = async (more: Parameters<typeof fixedParts>[0]) =>
    loadBundle(await compiled(), fixedParts(more)).then(
      () => "",
      (error: Error) => error.message,
    );

  it("in another format", async () => {
    expect(await refusal(changed({ format: 2 }))).toBe(
      "config.json is of format 2; this page reads 1",
    );
  });

  it("with another's vocabulary", async () => {
    const { src, tgt } = fixedParts();
    const said = "vocabulary has 330 pieces, config.json says 320";
    expect(await refusal({ src: tgt })).toBe(`the source ${said}`);
    expect(await refusal({ tgt: src })).toContain("the target vocabulary has 320 pieces");
  });
});
