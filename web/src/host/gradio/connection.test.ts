import { expect, it } from "vitest";
import { translateToasts } from "./connection";
import { t } from "../../i18n/words";

const settled = () => new Promise((resolve) => setTimeout(resolve));
const LOST = "Connection to the server was lost. Attempting reconnection...";

it("what Gradio says of a lost connection is said in our words, and other toasts stay", async () => {
  translateToasts(); // nowhere to look: no harm
  document.body.innerHTML = '<div class="toast-wrap"></div>';
  translateToasts();
  document.querySelector(".toast-wrap")!.innerHTML = `<div><b>Error</b> <p>${LOST}</p>
    <p>Another one</p><button aria-label="Close"></button></div>`;
  await settled();
  const said = document.querySelector(".toast-wrap")!.textContent.replace(/\s+/g, " ").trim();
  const words = "The server does not answer. The page goes on by itself once it does;";
  expect(said).toContain(`${t("No connection")} ${words}`);
  expect(said).toContain("Another one");
  expect(said).not.toContain("reconnection");
  expect(document.querySelector("button")!.getAttribute("aria-label")).toBe(t("Close"));
});
