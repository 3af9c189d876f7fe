import { RuleTester } from "eslint";
import { describe, it } from "vitest";
import { length } from "./length.js";

const lines = (count: number) => "f();\n".repeat(count);
const errors = (own: number) => [
  { message: `a function has ${own} lines of its own; at most 40 are read at a glance` },
];

RuleTester.describe = describe;
RuleTester.it = it;
new RuleTester().run("length", length, {
  valid: [
    `const f = () => {\n${lines(38)}};`,
    `const f = () => {\n${lines(38)}\n// why\n};`,
    `const f = () => {\nconst g = () => {\n${lines(38)}};\n${lines(36)}};`,
  ],
  invalid: [
    { code: `const f = () => {\n${lines(39)}};`, errors: errors(41) },
    { code: `function f() {\nfunction g() {\n${lines(39)}}\n}`, errors: errors(41) },
    { code: `const f = () => {\nconst g = () => {\nf();\n};\n${lines(37)}};`, errors: errors(41) },
  ],
});
