import { afterEach, expect, it, vi } from "vitest";
import { copyText } from "./clipboard";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
const clipboard = (writeText: (text: string) => Promise<void>) =>
  vi.stubGlobal("navigator", { clipboard: { writeText } });

it("a text goes to the clipboard that the browser offers", async () => {
  const written = vi.fn(async () => undefined);
  clipboard(written);
  await copyText("Das Haus");
  expect(written.mock.calls).toEqual([["Das Haus"]]);
});

it("without one it is selected in a field of its own, copied, and the field is gone", async () => {
  clipboard(() => Promise.reject(new Error("not allowed")));
  let copied = "";
  const copy = (command: string) => {
    const area = document.querySelector("textarea")!;
    if (command === "copy") copied = area.value.slice(area.selectionStart, area.selectionEnd);
    return true;
  };
  Object.assign(document, { execCommand: copy });
  await copyText("Das alte Haus");
  delete (document as Partial<Document>).execCommand;
  expect(copied).toBe("Das alte Haus");
  expect(document.querySelector("textarea")).toBeNull();
});
