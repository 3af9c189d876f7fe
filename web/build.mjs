/* Builds what a page loads, `explorer.js` and `explorer.css`, into translator/ui/static (or --out
   DIR; --watch goes on). */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import { faults } from "./lint/sentences.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: { out: { type: "string" }, watch: { type: "boolean", default: false } },
});

/**
 * Markup as text. Its line breaks stay, since they are spaces to a browser; its indentation does
 * not.
 */
const markup = {
  name: "markup",
  setup(build) {
    build.onLoad({ filter: /\.html$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).trim().replace(/\s*\n\s*/g, "\n"),
      loader: "text",
      watchFiles: [file],
    }));
  },
};

const TOKENS = path.join(here, "../translator/figures/tokens.json");

/**
 * `@import "tokens:body"`: the colours of both themes as style variables of what the selector
 * picks.
 */
const tokens = {
  name: "tokens",
  setup(build) {
    build.onResolve({ filter: /^tokens:/ }, ({ path: name }) => ({
      path: name.slice("tokens:".length),
      namespace: "tokens",
    }));
    build.onLoad({ filter: /.*/, namespace: "tokens" }, async ({ path: selector }) => {
      const { colours } = JSON.parse(await readFile(TOKENS, "utf8"));
      const rule = (theme, chosen) => {
        const named = Object.entries(colours[theme]).map(
          ([name, colour]) => `--${name}: ${colour};`,
        );
        return `${chosen} { ${named.join(" ")} color-scheme: ${theme}; }`;
      };
      const contents = [rule("light", selector), rule("dark", `${selector}.dark`)].join("\n");
      return { contents, loader: "css", watchFiles: [TOKENS] };
    });
  },
};

/** `virtual:style`: the style sheet of an explorer on a page of others, as text. */
const style = {
  name: "style",
  setup(build) {
    build.onResolve({ filter: /^virtual:style$/ }, () => ({ path: "style", namespace: "style" }));
    build.onLoad({ filter: /.*/, namespace: "style" }, async () => {
      const built = await esbuild.build({
        ...shared,
        entryPoints: ["src/embed.css"],
        plugins: [tokens],
        write: false,
        logLevel: "warning",
      });
      // Of a page of others an explorer has only its element's width.
      const contents = built.outputFiles[0].text.replace(
        /@media(?= *\((min|max)-width)/g,
        "@container",
      );
      return { contents, loader: "text" };
    });
  },
};

/**
 * A sentence that no source says, or that a table has no entry for, fails the build: a page would
 * show it in English.
 */
const sentences = {
  name: "sentences",
  setup(build) {
    build.onStart(() => ({ errors: faults().map((text) => ({ text })) }));
  },
};

/** @type {import("esbuild").BuildOptions} */
const shared = {
  absWorkingDir: here,
  outdir: path.resolve(values.out ?? path.join(here, "../translator/ui/static")),
  bundle: true,
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  banner: {
    js: "/* Built from web/ by `npm run build`. */",
    css: "/* Built from web/ by `npm run build`. */",
  },
  plugins: [markup, tokens, style],
  logLevel: "info",
};

/**
 * The page's script and styles, the module that brings an explorer to a page of others, the live
 * page's worker.
 */
const builds = [
  {
    ...shared,
    format: "iife",
    plugins: [sentences, ...shared.plugins],
    entryPoints: [
      { in: "src/main.ts", out: "explorer" },
      { in: "src/style.css", out: "explorer" },
    ],
  },
  { ...shared, format: "esm", entryPoints: [{ in: "src/embed.ts", out: "embed" }] },
  { ...shared, format: "esm", entryPoints: [{ in: "src/notebook.ts", out: "notebook" }] },
  // What only a live page loads: modules, so that a worker can be one.
  {
    ...shared,
    format: "esm",
    entryPoints: [
      { in: "src/host/live/main.ts", out: "page" },
      { in: "src/host/live/early.ts", out: "early" },
      { in: "src/host/live/live.css", out: "page" },
      { in: "src/live/worker.ts", out: "worker" },
      { in: "src/live/sw.ts", out: "sw" },
    ],
    outdir: path.join(shared.outdir, "live"),
  },
];

for (const options of builds) {
  if (values.watch) await (await esbuild.context(options)).watch();
  else await esbuild.build(options);
}
