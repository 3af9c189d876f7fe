import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { printable, printPage } from "./print";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

it("a page for print holds the picture alone, and is no smaller than it", () => {
  const html = printable("<svg id='one'></svg>", "a <b> & c.pdf", 100.2, 50);
  const page = new DOMParser().parseFromString(html, "text/html");
  expect(page.title).toBe("a b>  c.pdf"); // no markup
  expect(page.querySelectorAll("svg")).toHaveLength(1);
  expect(html.endsWith("</style><svg id='one'></svg>")).toBe(true);
  const [, width, height] = /size:(\d+)px (\d+)px/.exec(html)!.map(Number);
  expect(width).toBeGreaterThanOrEqual(100.2);
  expect(height).toBeGreaterThan(50); // or a second page would follow
});

it("it is printed once it is loaded, under its own title, and stays as long as a printer needs", async () => {
  document.title = "The explorer";
  const printed: string[] = [];
  const done = printPage("<title>map.pdf</title>");
  const frame = document.querySelector("iframe")!;
  expect(frame.srcdoc).toContain("map.pdf");
  Object.defineProperty(frame, "contentDocument", { value: { title: "map.pdf" } });
  Object.defineProperty(frame, "contentWindow", {
    value: { print: () => printed.push(document.title) },
  });
  expect(printed).toEqual([]);
  frame.dispatchEvent(new Event("load"));
  await done;
  expect(printed).toEqual(["map.pdf"]);
  expect(document.title).toBe("The explorer");
  vi.advanceTimersByTime(59_000);
  expect(frame.isConnected).toBe(true);
  vi.advanceTimersByTime(2000);
  expect(frame.isConnected).toBe(false);
});
