import { beforeEach, describe, expect, it, vi } from "vitest";
import type { MapSize } from "../../plot/measure";
import type { Picture } from "../../trace/picture";
import { makeScroll, type Scroll } from "./scroll";

const picture = { rows: new Array(20).fill({}), columns: new Array(30).fill({}) } as Picture;
const size = (rows: number, columns: number) =>
  ({ rows, columns, cellWidth: 20, cellHeight: 10, labels: 100, top: 50 }) as MapSize;
const PLOT = { width: 300, height: 150 };

let scrolled: ReturnType<typeof vi.fn<() => void>>;
let scroll: Scroll;
let x: HTMLElement;
let y: HTMLElement;
beforeEach(() => {
  scrolled = vi.fn();
  scroll = makeScroll(scrolled);
  [x, y] = scroll.nodes as [HTMLElement, HTMLElement];
  document.body.replaceChildren(...scroll.nodes);
});
const show = (of: MapSize, first = { x: 0, y: 0 }) => scroll.show(picture, of, first, PLOT);

describe("the bars of a map", () => {
  it("are shown where it is larger than its frame, each by itself", () => {
    const shown = (rows: number, columns: number) => {
      show(size(rows, columns));
      return [x.hidden, y.hidden];
    };
    expect(shown(20, 30)).toEqual([true, true]);
    expect(shown(20, 10)).toEqual([false, true]);
    expect(shown(10, 30)).toEqual([true, false]);
    expect(shown(10, 10)).toEqual([false, false]);
    scroll.hide();
    expect([x.hidden, y.hidden]).toEqual([true, true]);
  });

  it("are as long as what is in sight, and what they move as the whole", () => {
    show(size(10, 15));
    expect([x.style.left, x.style.width]).toEqual(["100px", "200px"]);
    expect((x.firstElementChild as HTMLElement).style.width).toBe("400px"); // twice as much
    expect([y.style.top, y.style.height, y.style.left]).toEqual(["50px", "100px", "300px"]);
    expect((y.firstElementChild as HTMLElement).style.height).toBe("200px");
  });

  it("stand where the map begins, and say where they were scrolled to", () => {
    const of = size(10, 15);
    show(of, { x: 3, y: 2 });
    expect([x.scrollLeft, y.scrollTop]).toEqual([60, 20]);
    x.scrollLeft = 99;
    y.scrollTop = 44;
    expect(scroll.moved({ x: 3, y: 2 }, of)).toEqual({ x: 5, y: 4 });
    show(size(20, 15), { x: 3, y: 0 });
    expect(scroll.moved({ x: 3, y: 7 }, of).y).toBe(7); // a bar that is hidden says nothing
  });

  it("are put in place anew once a hand has moved them, or they were out of sight", () => {
    const of = size(10, 15);
    show(of, { x: 3, y: 2 });
    x.scrollLeft = 0;
    show(of, { x: 3, y: 2 }); // nobody said that it moved: it is left alone
    expect(x.scrollLeft).toBe(0);
    x.dispatchEvent(new Event("scroll"));
    expect(scrolled).toHaveBeenCalledTimes(1);
    show(of, { x: 3, y: 2 });
    expect(x.scrollLeft).toBe(60);
    x.scrollLeft = 0;
    scroll.forget();
    show(of, { x: 3, y: 2 });
    expect(x.scrollLeft).toBe(60);
  });
});

describe("a wheel over the map", () => {
  const turned = (
    deltaX: number,
    deltaY: number,
    more: object = {},
    target: Element = document.body,
  ) => {
    const event = { deltaX, deltaY, shiftKey: false, target, ...more } as unknown as WheelEvent;
    return [scroll.wheel(event), x.scrollLeft, y.scrollTop];
  };

  it("goes with the bar of its direction; with shift to the side", () => {
    show(size(10, 15));
    expect(turned(0, 30)[0]).toBe(true);
    expect(y.scrollTop).toBe(30);
    scroll.hide();
    show(size(20, 15));
    x.scrollLeft = 0;
    expect(turned(25, 0).slice(0, 2)).toEqual([true, 25]);
    expect(turned(0, 5, { shiftKey: true }).slice(0, 2)).toEqual([true, 30]);
  });

  it("is the page's where there is no bar for it, and the bar's own over a bar", () => {
    show(size(20, 15));
    expect(turned(0, 30)[0]).toBe(false);
    show(size(10, 15));
    expect(turned(0, 30, {}, y)[0]).toBe(false);
    expect(turned(0, 0)[0]).toBe(false); // nothing moved
  });
});
