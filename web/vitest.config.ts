import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.ts", "lint/**/*.test.ts"],
  },
  plugins: [
    {
      name: "markup", // as build.mjs does
      transform: (code, id) =>
        id.endsWith(".html") ? `export default ${JSON.stringify(code)}` : undefined,
    },
  ],
});
