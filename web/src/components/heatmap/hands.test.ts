import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestContext } from "../../test/context";
import type { Cell } from "../../state/view";
import { type HandsProps, listenToHands } from "./hands";

/** A map of cells of ten pixels. */
const made = () => {
  const calls: unknown[][] = [];
  const note =
    (name: string, gives?: unknown) =>
    (...values: unknown[]) => {
      calls.push([name, ...values]);
      return gives;
    };
  const x = new TestContext();
  Object.assign(x, { chooseRow: note("row"), pinCell: note("pin"), enter: note("enter") });
  const box = document.createElement("div");
  const button = box.appendChild(document.createElement("button"));
  document.body.append(box);
  const cellAt = ({ clientX, clientY }: MouseEvent): Cell | null =>
    clientX < 0 ? null : { i: Math.floor(clientY / 10), j: Math.floor(clientX / 10) };
  const unzoom = vi.fn(() => false);
  const wheel = vi.fn(() => true);
  const props: HandsProps = {
    ...{ cellAt, unzoom, wheel, escape: () => false },
    hover: note("hover") as never,
    pressed: note("pressed") as never,
    go: note("go") as never,
    magnify: note("magnify") as never,
  };
  listenToHands(box, x, props);
  const point = (type: string, clientX: number, clientY: number, more: object = {}) =>
    (type === "pointerup" ? window : box).dispatchEvent(
      new PointerEvent(type, { clientX, clientY, bubbles: true, ...more }),
    );
  const click = (clientX: number, clientY: number, more: object = {}) => {
    point("pointerdown", clientX, clientY, more);
    point("pointerup", clientX, clientY, more);
  };
  /** What was called, but for what every press does. */
  const done = () => calls.splice(0).filter(([name]) => name !== "pressed" && name !== "enter");
  return { x, box, button, calls, unzoom, wheel, point, click, done };
};
let world: ReturnType<typeof made>;
beforeEach(() => void (world = made()));
afterEach(() => {
  world.x.life.abort();
  world.box.remove();
});

describe("a pointer on a map", () => {
  it("points at cells, and at none once it has left", () => {
    world.point("mousemove", 25, 14);
    world.box.dispatchEvent(new MouseEvent("mouseleave"));
    expect(world.done()).toEqual([
      ["hover", { i: 1, j: 2 }],
      ["hover", null],
    ]);
  });

  it("chooses the row of the cell that it clicks, and pins it with shift", () => {
    world.click(25, 14);
    expect(world.calls.map(([name]) => name)).toEqual(["pressed", "enter", "row"]);
    expect(world.done()).toEqual([["row", 1, { i: 1, j: 2 }]]);
    world.click(5, 5, { shiftKey: true });
    expect(world.done()).toEqual([["pin", { i: 0, j: 0 }]]);
  });

  it("that drags, presses another button or begins elsewhere clicks nothing", () => {
    world.point("pointerdown", 25, 14);
    world.point("pointerup", 29, 16);
    world.click(25, 14, { button: 2 });
    world.point("pointerup", 25, 14); // began outside
    world.click(-5, 5);
    expect(world.done()).toEqual([]);
    world.point("pointerdown", 25, 14);
    world.point("pointerup", 27, 16);
    expect(world.done()).toHaveLength(1);
  });

  it("on a button of the map is the button's", () => {
    world.button.dispatchEvent(
      new PointerEvent("pointerdown", { clientX: 5, clientY: 5, bubbles: true }),
    );
    world.point("pointerup", 5, 5);
    expect(world.done()).toEqual([]);
  });

  it("shows all of a zoomed map by a second click, soon after the first", () => {
    const clock = vi.spyOn(Event.prototype, "timeStamp", "get").mockReturnValue(1000);
    world.unzoom.mockReturnValue(true);
    world.click(5, 5);
    clock.mockReturnValue(1100);
    world.click(5, 5);
    expect(world.unzoom).toHaveBeenCalledTimes(1);
    expect(world.done()).toHaveLength(1);
    clock.mockReturnValue(1200);
    world.click(5, 5); // a third is a first again
    expect(world.unzoom).toHaveBeenCalledTimes(1);
    clock.mockReturnValue(9000);
    world.click(5, 5);
    expect(world.unzoom).toHaveBeenCalledTimes(1);
    clock.mockRestore();
  });

  it("is not heard any more once the explorer was taken away", () => {
    world.point("pointerdown", 25, 14);
    world.x.life.abort();
    world.point("pointerup", 25, 14);
    expect(world.done()).toEqual([]);
  });
});

describe("a wheel and keys on a map", () => {
  const sent = (event: Event, on: Element = world.box) => {
    on.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const key = (name: string, on?: Element) =>
    sent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }), on);

  it("scroll the map, and the page where the map does not go on", () => {
    const turn = () => sent(new WheelEvent("wheel", { deltaY: 5, cancelable: true }));
    expect(turn()).toBe(true);
    world.wheel.mockReturnValue(false);
    expect(turn()).toBe(false);
  });

  it("begin at the present row, or at the cell pointed at", () => {
    expect(key("ArrowRight")).toBe(true);
    world.x.state.hover = { i: 2, j: 1 };
    key("ArrowRight");
    key("Enter");
    key("p");
    expect(world.done()).toEqual([
      ["go", { i: world.x.rowIndex(world.x.picture()), j: 1 }],
      ["go", { i: 2, j: 2 }],
      ["row", 2, { i: 2, j: 1 }],
      ["pin", { i: 2, j: 1 }],
    ]);
  });

  it("of no meaning, or on a button, are left alone", () => {
    expect(key("Tab")).toBe(false);
    expect(key("ArrowRight", world.button)).toBe(false);
    expect(world.done()).toEqual([]);
  });
});
