import { inflateSync } from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import { payload } from "../../test/example";
import { offlinePage } from "./offline";

afterEach(() => vi.unstubAllGlobals());

const SHELL =
  '<html lang="@@tgt@@"><title>@@source@@ → @@translation@@</title><i>@@src@@ @@other@@</i>@@payload@@';
const made = async (changes: object) => {
  vi.stubGlobal("fetch", async () => new Response(SHELL));
  const given = { ...payload(), ...changes };
  return { given, page: await (await offlinePage(given, "shell.html")).text() };
};

it("the page holds the whole translation, deflated", async () => {
  const { given, page } = await made({});
  const packed = page.slice(page.indexOf("</i>") + 4);
  expect(JSON.parse(inflateSync(Buffer.from(packed, "base64")).toString())).toEqual(given);
  expect(page).toContain('lang="en"');
  expect(page).toContain("<i>de @@other@@</i>");
});

it("what was typed stays text, and is no mark", async () => {
  const { page } = await made({ source: "<b>@@tgt@@ & $&", translation: '"$1"' });
  expect(page).toContain("<title>&lt;b&gt;@@tgt@@ &amp; $&amp; → ");
  expect(page).toMatch(/→ (&quot;|")\$1(&quot;|")<\/title>/);
});

it("says what to do where the shell does not come", async () => {
  vi.stubGlobal("fetch", async () => new Response("", { status: 404 }));
  await expect(offlinePage(payload(), "shell.html")).rejects.toThrow("when you are online");
});
