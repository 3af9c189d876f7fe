/* A link to the Positions tab as it is set: read into Gradio's fields, and made of their values. */

import { copyText } from "../../dom/clipboard";
import { t } from "../../i18n/words";
import { setField } from "./fields";

/** Names in a link, in the order of the tab's inputs. */
const NAMES = ["table", "layout", "n", "d", "curves"];
const FIELDS = [
  "position-table",
  "position-layout",
  "position-length",
  "position-depth",
  "position-curves",
];
const TRIES = 100;
const BETWEEN = 100; // ms
const SHOWN = 2500; // ms

const partOf = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

export const positionsInLink = (): boolean => partOf().has("positions");

/** Copy a link to the tab as it is set; the button says so for a while. */
export const copyPositionsLink = async (...values: unknown[]): Promise<void> => {
  const part = new URLSearchParams({ positions: "1" });
  NAMES.forEach((name, i) => part.set(name, String(values[i])));
  const address = new URL(location.href);
  address.hash = part.toString();
  await copyText(address.href);
  const button = document.querySelector<HTMLElement>("#position-link")!;
  button.textContent = t("Link copied");
  setTimeout(() => (button.textContent = t("Copy link")), SHOWN);
};

const fill = (id: string, value: string): void => {
  const box = document.getElementById(id)!;
  const radio = box.querySelector<HTMLInputElement>(`input[value="${CSS.escape(value)}"]`);
  if (radio?.type === "radio") return radio.click();
  const input = box.querySelector<HTMLInputElement>("input[type=number], input, textarea");
  if (!input || input.type === "radio") return;
  setField(input, value);
  for (const event of ["change", "blur"]) input.dispatchEvent(new Event(event, { bubbles: true }));
};

/** Set the tab as a link says, once it is built. */
export const followPositions = (tries = 0): void => {
  if (!positionsInLink()) return;
  if (!document.querySelector("#position-link")) {
    if (tries < TRIES) setTimeout(() => followPositions(tries + 1), BETWEEN);
    return;
  }
  const part = partOf();
  NAMES.forEach((name, i) => {
    const value = part.get(name);
    if (value !== null) fill(FIELDS[i], value);
  });
};
