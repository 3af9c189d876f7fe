/* A rule of this project's own: imports point one way, from a layer to those that stand before
   it. */

import path from "node:path";

/**
 * From the ground up. What stands in one line may import each other, as long as no circle comes of
 * it.
 */
export const LAYERS = [
  ["format", "dom", "protocol", "design", "i18n"],
  ["trace"],
  ["state"],
  ["plot"],
  ["components"],
  ["tabs"],
  ["host", "live"],
  ["main.ts", "embed.ts", "notebook.ts", "test"],
];

const SOURCES = `${path.sep}src${path.sep}`;

/** The layer of a file under src/; -1: it belongs to none. */
export const layerOf = (file) => {
  const inside = file.slice(file.lastIndexOf(SOURCES) + SOURCES.length).split(path.sep)[0];
  return LAYERS.findIndex((names) => names.includes(inside));
};

/** @type {import("eslint").Rule.RuleModule} */
export const layers = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      up: "{{from}} must not import {{to}}: imports point from left to right in main, host, tabs, components, plot, state, trace, the ground",
      unplaced: "{{to}} stands in no layer; give it one in lint/layers.js",
    },
  },
  create: (context) => {
    const from = context.filename;
    if (!from.includes(SOURCES) || layerOf(from) < 0) return {};
    const judge = (node) => {
      const { source } = node;
      if (!source || !String(source.value).startsWith(".")) return;
      const to = path.resolve(path.dirname(from), source.value);
      const names = { from: path.basename(from), to: path.basename(to) };
      if (from.endsWith(".test.ts")) return; // what only tests share may know everything
      if (!to.includes(SOURCES)) return;
      if (layerOf(to) < 0) context.report({ node: source, messageId: "unplaced", data: names });
      else if (layerOf(to) > layerOf(from))
        context.report({ node: source, messageId: "up", data: names });
    };
    return {
      ImportDeclaration: judge,
      ExportNamedDeclaration: judge,
      ExportAllDeclaration: judge,
      ImportExpression: judge,
    };
  },
};
