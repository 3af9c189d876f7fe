import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";
import { layers } from "./lint/layers.js";
import { length } from "./lint/length.js";

/** A literal given to an element: a page would show it in English, whatever its language. */
const UNSPOKEN = {
  selector:
    "CallExpression[callee.name='el'] > ObjectExpression > Property[key.name=/^(text|title|placeholder)$/] > Literal[value=/[a-z]{3}/]",
  message: "Say it with t(), or give a key as `satisfies Sentence`.",
};

/** Firefox before 119 has no such property: what it is set to would not be heard there. */
const UNHEARD = {
  selector:
    ":matches(MemberExpression[property.name=/^aria[A-Z]/], Property[key.name=/^aria[A-Z]/])",
  message: "Set the attribute, or use label().",
};

/**
 * What was judged by other rules than these is judged anew: this is part of what a cached verdict
 * is kept under.
 */
const version = () => {
  const hash = createHash("sha256");
  const folder = new URL("lint/", import.meta.url);
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(new URL(name, folder)));
  return hash.digest("hex");
};

export default defineConfig([
  globalIgnores(["node_modules/"]),
  js.configs.recommended,
  tseslint.configs.recommended,
  {
    plugins: { own: { meta: { name: "own", version: version() }, rules: { layers, length } } },
    rules: {
      "own/layers": "error",
      "own/length": "error",
      "max-lines": ["error", { max: 300 }],
      // A sentence is the key of its translations and stays in one piece.
      "max-len": [
        "error",
        {
          code: 100,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
      "no-restricted-syntax": ["error", UNSPOKEN, UNHEARD],
      "no-undef": "off", // TypeScript knows
      eqeqeq: "error",
      "prefer-const": "error",
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  {
    // A figure is Plotly's own matter.
    files: ["src/plot/*.ts", "src/tabs/lab/numbers.ts"],
    rules: { "@typescript-eslint/no-explicit-any": "off" },
  },
  {
    // What a notebook hands over has no types.
    files: ["src/host/notebook.ts"],
    rules: { "@typescript-eslint/no-explicit-any": "off" },
  },
  {
    files: ["**/*.test.ts"],
    rules: { "no-restricted-syntax": "off" },
  },
]);
