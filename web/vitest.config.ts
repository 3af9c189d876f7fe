import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "happy-dom",
    // a document for each file would take two thirds of the time: src/test/afresh.ts
    isolate: false,
    experimental: { fsModuleCache: true }, // what was transformed once, by its content
    setupFiles: ["src/test/afresh.ts"],
    include: ["src/**/*.test.ts", "lint/**/*.test.ts"],
  },
  plugins: [
    {
      name: "style", // in place of the style sheet that build.mjs makes
      resolveId: (id) => (id === "virtual:style" ? "\0style" : undefined),
      load: (id) => (id === "\0style" ? 'export default ".attention-explorer {}"' : undefined),
    },
    {
      name: "markup", // as build.mjs does
      transform: (code, id) =>
        id.endsWith(".html") ? `export default ${JSON.stringify(code)}` : undefined,
    },
  ],
});
