import { expect, it } from "vitest";
import { excerpt, worded } from "./words";

const shown = (...nodes: (Node | string)[]) => {
  const node = document.createElement("p");
  node.append(...nodes);
  return node;
};

it("d_model and d_head are set as formulas set them, another underscore is not", () => {
  expect(shown(...worded("d_model / d_head, d_ff")).innerHTML).toBe(
    "d<sub>model</sub> / d<sub>head</sub>, d_ff",
  );
});

it("an excerpt that is copied is the source again, and says where that stands", () => {
  const code = 'def f(x):\n    if x is None: return "not # a remark"\n\n    return x  # for now';
  const node = excerpt({ name: "f", path: "a.py", line: 12, code }, (english, values) =>
    english.replace("{n}", String(values?.n)),
  );
  expect(node.querySelector("code")!.textContent).toBe(code);
  expect(node.querySelector("figcaption")!.textContent).toBe("fa.py, line 12");
  const bold = [...node.querySelectorAll("pre b")].map((each) => each.textContent);
  expect(bold).toEqual(["def", "if", "is", "None", "return", "return"]);
  expect([...node.querySelectorAll("pre i")].map((each) => each.textContent)).toEqual([
    "# for now",
  ]);
  const indents = [...node.querySelectorAll<HTMLElement>("code > span")].map((line) =>
    line.getAttribute("style"),
  );
  expect(indents).toEqual([0, 4, 0, 4].map((n) => `--indent:${n}`));
});
