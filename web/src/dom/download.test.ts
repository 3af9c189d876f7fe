import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { drawing, saveAs } from "./download";

const made: Blob[] = [];
const revoked = vi.fn();
beforeEach(() => {
  made.length = 0;
  revoked.mockClear();
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => `blob:${made.push(blob as Blob)}`);
  vi.spyOn(URL, "revokeObjectURL").mockImplementation(revoked);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("a file is saved under its name, and its address kept until the browser has begun", () => {
  vi.useFakeTimers();
  const clicked: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    clicked.push(`${this.download} ${this.href} ${this.isConnected}`);
  });
  saveAs("table.csv", new Blob(["a,b"]));
  expect(clicked).toEqual(["table.csv blob:1 true"]);
  expect(document.querySelector("a")).toBeNull();
  vi.advanceTimersByTime(59_000);
  expect(revoked).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2000);
  expect(revoked.mock.calls).toEqual([["blob:1"]]);
});

describe("a drawing", () => {
  /** A browser's picture of 30 × 20.2 pixels, which comes or does not. */
  const pictured = (comes: boolean, blob: Blob | null = new Blob(["PNG"])) => {
    const sizes: number[][] = [];
    vi.stubGlobal(
      "Image",
      class {
        width = 30;
        height = 20.2;
        onload = () => undefined;
        onerror: (error: Error) => void = () => undefined;
        set src(_: string) {
          queueMicrotask(() => (comes ? this.onload() : this.onerror(new Error("broken"))));
        }
      },
    );
    const paint = (...[, x, y, width, height]: unknown[]) =>
      void sizes.push([x, y, width, height] as number[]);
    vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue({
      drawImage: paint,
    } as never);
    vi.spyOn(HTMLCanvasElement.prototype, "toBlob").mockImplementation((give) => give(blob));
    return sizes;
  };

  it("as SVG is its text", async () => {
    const found = await drawing("<svg/>", "svg");
    expect([found.type, await found.text()]).toEqual(["image/svg+xml", "<svg/>"]);
  });

  it("as PNG has as many pixels as were asked for, and leaves no address", async () => {
    const sizes = pictured(true);
    expect(await (await drawing("<svg/>", "png")).text()).toBe("PNG");
    await drawing("<svg/>", "png", 5);
    expect(sizes).toEqual([
      [0, 0, 60, 40],
      [0, 0, 150, 101],
    ]);
    expect(revoked).toHaveBeenCalledTimes(2);
  });

  it("that cannot be made is an error", async () => {
    pictured(false);
    await expect(drawing("<svg/>", "png")).rejects.toThrow("broken");
    pictured(true, null);
    await expect(drawing("<svg/>", "png")).rejects.toThrow("no picture");
  });
});
