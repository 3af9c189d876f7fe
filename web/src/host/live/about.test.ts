import { afterEach, beforeEach, expect, it } from "vitest";
import { mountAbout } from "./about";

beforeEach(() => {
  window.__explorerData = {
    ...{ examples: [], address: "", settings: [], directions: ["de-en"] },
    site: {
      version: "1",
      citation: "@software{x, title={A <b>}}",
      offers: [{ direction: "de-en", label: "German → English", size: 1 }],
    },
  };
});
afterEach(() => void delete window.__explorerData);

it("names each model's card, and how to cite, and puts nothing in as markup", () => {
  const element = document.createElement("div");
  mountAbout(element);
  const [link] = element.querySelectorAll("a");
  expect(link!.getAttribute("href")).toBe("checkpoints/de-en/README.md");
  expect(link!.textContent).toContain("German → English");
  expect(element.querySelector("pre")!.textContent).toBe("@software{x, title={A <b>}}");
  expect(element.querySelector("b")).toBeNull();
});

it("is said anew, and once, when the page speaks another language", () => {
  const element = document.createElement("div");
  mountAbout(element);
  const before = element.textContent;
  window.__explorerLocales = {
    de: { "How to cite": "So wird zitiert" },
  } as unknown as typeof window.__explorerLocales;
  document.documentElement.lang = "de";
  dispatchEvent(new Event("explorer-language"));
  expect(element.querySelectorAll("h2")).toHaveLength(1);
  expect(element.textContent!.length).toBeGreaterThan(0);
  expect(before).toContain("How to cite");
  expect(element.getAttribute("translate")).toBe("no");
});
