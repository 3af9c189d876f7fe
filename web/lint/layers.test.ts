import path from "node:path";
import * as esbuild from "esbuild";
import { RuleTester } from "eslint";
import { describe, expect, it } from "vitest";
import { layers } from "./layers.js";

const SRC = path.resolve(import.meta.dirname, "../src");
const file = (name: string) => path.join(SRC, name);

RuleTester.describe = describe;
RuleTester.it = it;
new RuleTester().run("layers", layers, {
  valid: [
    { filename: file("tabs/lab/lab.ts"), code: 'import { t } from "../../i18n/words";' },
    { filename: file("main.ts"), code: 'import "./host/offline/offline";' },
    { filename: file("plot/heat.ts"), code: 'import "./cells"; import "plotly.js";' },
  ],
  invalid: [
    {
      filename: file("trace/picture.ts"),
      code: 'import { within } from "../state/view";',
      errors: [{ messageId: "up" }],
    },
    {
      filename: file("components/chips/chips.ts"),
      code: 'export * from "../../tabs/lab/lab";',
      errors: [{ messageId: "up" }],
    },
    {
      filename: file("main.ts"),
      code: 'import "./misc/things";',
      errors: [{ messageId: "unplaced" }],
    },
  ],
});

describe("imports", () => {
  it("make no circle", async () => {
    const { metafile } = await esbuild.build({
      absWorkingDir: SRC,
      entryPoints: ["main.ts"],
      bundle: true,
      write: false,
      metafile: true,
      loader: { ".html": "text" },
      logLevel: "silent",
      outdir: "none",
    });
    const graph = new Map(
      Object.entries(metafile.inputs).map(([name, input]) => [
        name,
        input.imports.map((each) => each.path),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (name: string, trail: string[]) => {
      if (trail.includes(name))
        circles.push([...trail.slice(trail.indexOf(name)), name].join(" → "));
      if (done.has(name) || trail.includes(name)) return;
      for (const next of graph.get(name) ?? []) walk(next, [...trail, name]);
      done.add(name);
    };
    for (const name of graph.keys()) walk(name, []);
    expect(graph.size).toBeGreaterThan(40);
    expect(circles).toEqual([]);
  });
});
