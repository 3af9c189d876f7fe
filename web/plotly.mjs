/* Bundles the part of plotly.js that is drawn with here: `node plotly.mjs PACKAGE OUT`, which
 * `make plotly` calls.
 *
 * PACKAGE is the folder of the package plotly.js with its dependencies beside it; OUT becomes
 * one script, which makes `window.Plotly`, and OUT.br the same, packed as far as it goes.
 * Scatter is part of plotly.js's core. */

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync } from "node:zlib";
import * as esbuild from "esbuild";

/**
 * What `translator/figures` draws besides: tests/browser/test_drawing.py holds the two together.
 */
const TRACES = ["bar", "heatmap"];

const [folder, out] = process.argv.slice(2).map((each) => path.resolve(each));
const { version } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
const required = TRACES.map((name) => `require("./lib/${name}")`);
await esbuild.build({
  stdin: {
    contents: `module.exports = require("./lib/core"); module.exports.register([${required}]);`,
    resolveDir: folder,
  },
  outfile: out,
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plotly",
  target: "es2022",
  define: { global: "window", "define.amd": "false", "process.env.NODE_DEBUG": "false" },
  loader: { ".css": "empty" }, // of maps, which nothing here draws
  legalComments: "eof",
  banner: {
    js: [
      `/* plotly.js v${version}: scatter, ${TRACES.join(", ")}`,
      " * Copyright 2012-2026, Plotly, Inc. All rights reserved. Licensed under the MIT license. */",
    ].join("\n"),
  },
  logLevel: "info",
});
await writeFile(out + ".br", brotliCompressSync(await readFile(out)));
