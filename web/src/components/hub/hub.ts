/* The list of models on the hub, to be fetched by one press: a dialog. */

import { el, write } from "../../dom/element";
import { sentence } from "../../format/text";
import { LANGUAGES, pageLanguage } from "../../i18n/language";
import { languageName } from "../../i18n/language-names";
import { t, tMessage } from "../../i18n/words";
import type { HubList, HubModel } from "../../protocol/hub";

export interface HubProps {
  /** null: nothing has come yet. */
  list: HubList | null;
  /** Why the last wish was refused, in the server's words. */
  refused: string;
  onFetch: (name: string) => void;
  onStop: (name: string) => void;
  onUse: (name: string) => void;
}

const MEGA = 1e6;
const GIGA = 1e9;

const sizeText = (bytes: number): string => {
  const [value, unit] = bytes < GIGA ? [bytes / MEGA, "MB"] : [bytes / GIGA, "GB"];
  const digits = { maximumFractionDigits: bytes < GIGA ? 0 : 1 };
  return `${value.toLocaleString(LANGUAGES[pageLanguage()], digits)} ${unit}`;
};

const between = ({ languages: [src, tgt] }: HubModel): string =>
  src && tgt ? `${languageName(src)} → ${languageName(tgt)}` : t("a hundred languages");

const button = (text: string, label: string, click: () => void, more = {}): HTMLElement =>
  el("button", { type: "button", class: "btn", text, "aria-label": label, on: { click }, ...more });

/** What can be done with a model now. */
const action = (model: HubModel, { list, onFetch, onStop, onUse }: HubProps): HTMLElement => {
  const { name, state } = model;
  if (state === "here") return button(t("Use"), `${t("Use")}: ${name}`, () => onUse(name));
  if (state === "fetching") return button(t("Stop"), `${t("Stop")}: ${name}`, () => onStop(name));
  const off = list!.reached === false || list!.models.some((each) => each.state === "fetching");
  return button(t("Fetch"), `${t("Fetch")}: ${name}`, () => onFetch(name), { disabled: off });
};

/** How far a fetch is; it ends with the conversion, for which nothing more comes. */
const progress = ({ name, done, size }: HubModel): HTMLElement => {
  const came = Math.min(done, size);
  const said = t("{done} of {all}", { done: sizeText(came), all: sizeText(size) });
  return el(
    "div",
    { class: "hub-progress" },
    el("progress", { max: size, value: came, "aria-label": name }),
    el("span", { text: said }),
  );
};

const row = (model: HubModel, props: HubProps): HTMLElement => {
  const about = [between(model), sizeText(model.size), model.licence].join(" · ");
  const lines = [
    el("b", { text: model.name, translate: "no" }),
    el("span", { class: "hub-about", text: about }),
  ];
  if (model.state === "fetching") lines.push(progress(model));
  if (model.error)
    lines.push(el("span", { class: "hub-error", text: sentence(tMessage(model.error)) }));
  return el("li", {}, el("div", { class: "hub-model" }, ...lines), action(model, props));
};

const note = ({ list, refused }: HubProps): string => {
  if (refused) return sentence(tMessage(refused));
  if (!list) return t("Loading the list …");
  return list.reached === false
    ? t("The hub cannot be reached from here. Models that were fetched before can be used.")
    : "";
};

/** What a button does and whether it can. */
const face = (row: Element): string => {
  const button = row.querySelector("button")!;
  return `${button.getAttribute("aria-label")} ${button.disabled}`;
};

/**
 * Put rows in the places of those that are there. A button that says the same stays: a click on a
 * button that is replaced while it is pressed is lost.
 */
const draw = (list: HTMLElement, rows: HTMLElement[]): void => {
  const there = [...list.children];
  rows.forEach((each, i) => {
    if (there[i] && face(there[i]) === face(each))
      there[i].firstElementChild!.replaceWith(each.firstElementChild!);
    else if (there[i]) there[i].replaceWith(each);
    else list.append(each);
  });
  for (const each of there.slice(rows.length)) each.remove();
};

/** The dialog, closed; `update` draws it anew, and keeps the focus where it is. */
export const hubDialog = (
  props: HubProps,
): { node: HTMLDialogElement; update: (props: HubProps) => void } => {
  const title = el("h2", { id: "hub-title" });
  const says = el("p", {});
  const state = el("p", { class: "hub-note", role: "status" });
  const list = el("ul", {});
  const close = el("button", { type: "button", class: "btn", on: { click: () => node.close() } });
  const node = el("dialog", { class: "hub", "aria-labelledby": "hub-title", translate: "no" });
  node.append(title, says, state, list, close);
  const update = (next: HubProps) => {
    const rows = [...list.children];
    const at = rows.findIndex((each) => each.contains(document.activeElement));
    title.textContent = t("Models from the hub");
    says.textContent = t(
      "Larger models of the Hugging Face hub translate better than those that came with this page. One that you choose is fetched to this page's server once; its commit is recorded and held to.",
    );
    write(close, t("Close"));
    state.textContent = note(next);
    draw(
      list,
      (next.list?.models ?? []).map((model) => row(model, next)),
    );
    if (at >= 0) list.children[at]?.querySelector<HTMLElement>("button")?.focus();
  };
  update(props);
  return { node, update };
};
