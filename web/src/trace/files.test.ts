import { describe, expect, it } from "vitest";
import { example } from "../test/example";
import { csvOf, jsonOf, pythonOf } from "./files";
import { slice } from "./picture";

const trace = example();

describe("files", () => {
  it("a table has every weight with all its digits, and names that are no formulas", () => {
    const map = trace.head("cross", 0, 0);
    const picture = slice(trace, "cross", map, { unit: "sub", specials: "shown" });
    picture.columns[0].text = '=1+"1"';
    const [head, first] = csvOf(picture, "cross").slice(1).split("\r\n");
    expect(head).toContain('"\'=1+""1"""');
    expect(first.split(",").slice(-picture.columns.length).map(Number)).toEqual(picture.z[0]);
  });

  it("a table leaves the future empty", () => {
    const map = trace.head("decoder", 0, 0);
    const picture = slice(trace, "decoder", map, { unit: "sub", specials: "shown" });
    expect(csvOf(picture, "decoder").split("\r\n")[1]).toMatch(/1,+$/);
  });

  it("JSON holds maps in their shapes", () => {
    const whole = JSON.parse(jsonOf(trace));
    const { layers, heads, rows, columns } = trace.maps.cross;
    expect([whole.cross.length, whole.cross[0].length]).toEqual([layers, heads]);
    expect([whole.cross[0][0].length, whole.cross[0][0][0].length]).toEqual([rows, columns]);
    expect(whole.cross[1][2].flat()).toEqual([...trace.head("cross", 1, 2)]);
    expect(whole.tgt.map((token: { surface: string }) => token.surface)).toEqual(
      trace.tgt.map(({ s }) => s),
    );
  });

  it("the program names the model, the text and the head", () => {
    const said = pythonOf(trace, { kind: "cross", layer: 1, head: 2 });
    expect(said).toContain(`translator.load("${trace.checkpoint.name}")`);
    expect(said).toContain(JSON.stringify(trace.source));
    expect(said).toContain("trace.cross[1, 2]  # layer 2, head 3");
  });
});
