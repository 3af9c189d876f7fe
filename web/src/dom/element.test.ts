import { describe, expect, it } from "vitest";
import { bold, el, write } from "./element";

describe("what is written anew", () => {
  const said = () => el("p", {}, "reads ", bold("the"), ", then ", bold("house"));

  it("reads as it should, whatever stood there", () => {
    const node = said();
    for (const parts of [
      ["reads ", bold("a"), ", then ", bold("tree")],
      ["step 4"],
      [bold("step"), " 4"],
      [" 4", bold("step")],
      [],
      ["a", el("b", { class: "sp", text: "b" })],
      ["a", el("i", { text: "c" })],
      ["a", el("b", {}, bold("d"))],
      ["a", bold("")],
    ] as (Node | string)[][]) {
      const wanted = el(
        "p",
        {},
        ...parts.map((part) => (part instanceof Node ? part.cloneNode(true) : part)),
      );
      write(node, ...parts);
      expect(node.innerHTML).toBe(wanted.innerHTML);
    }
  });

  it("keeps texts and bold words", () => {
    const node = said();
    const before = [...node.childNodes];
    write(node, "liest ", bold("das"), ", dann ", bold("Haus"));
    expect([...node.childNodes].every((each, i) => each === before[i])).toBe(true);
    expect(node.textContent).toBe("liest das, dann Haus");
  });

  it("puts an element in its place that may do more than read", () => {
    const node = el("p", {}, el("b", { class: "t", text: "one" }));
    const other = el("b", { class: "t", text: "two" });
    write(node, other);
    expect(node.firstChild).toBe(other);
    const pressed = el("button", { text: "three" });
    write(node, pressed);
    expect(node.firstChild).toBe(pressed);
    write(node, el("button", { text: "four" }));
    expect(node.firstChild).not.toBe(pressed);
  });
});
