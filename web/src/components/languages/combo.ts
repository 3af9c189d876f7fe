/* A list that is searched by typing: a text field over it, as ARIA's combobox with a list. */

import { el } from "../../dom/element";
import { type NamedLanguage, plainWord } from "../../i18n/language-names";
import { t } from "../../i18n/words";

export interface ComboProps {
  /** What a screen reader calls it. */
  label: string;
  options: readonly NamedLanguage[];
  chosen: string;
  onPick: (code: string) => void;
}

const ROOM = 8; // pixels that stay free below an open list
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
let count = 0;

class Combo {
  readonly node = el("div", { class: "combo", translate: "no" });
  private readonly id = `combo-${++count}`;
  private readonly list = el("ul", { role: "listbox", id: this.id, hidden: true });
  private readonly field = el("input", {
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-controls": this.id,
    "aria-expanded": false,
  });
  private found: readonly NamedLanguage[] = [];
  private at = 0;

  constructor(private props: ComboProps) {
    this.node.append(this.field, this.list);
    this.field.addEventListener("focus", () => this.field.select());
    this.field.addEventListener("click", () => this.open());
    this.field.addEventListener("input", () => this.open(this.field.value));
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("blur", () => this.close());
    // typing chooses nothing
    this.field.addEventListener("change", (event) => event.stopPropagation());
    // the field keeps the focus
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const item = (event.target as Element).closest("[role=option]");
      if (item) this.pick([...this.list.children].indexOf(item));
    });
    addEventListener("resize", () => this.close());
    this.update(props);
  }

  update(props: ComboProps): void {
    this.props = props;
    this.field.setAttribute("aria-label", props.label);
    this.list.setAttribute("aria-label", props.label);
    this.field.disabled = props.options.length < 2;
    this.close();
  }

  private get isOpen(): boolean {
    return !this.list.hidden;
  }
  /** Show what fits `typed`; all of it, where nothing was. */
  private open(typed = ""): void {
    const word = plainWord(typed.trim());
    this.found = this.props.options.filter(({ keys }) => keys.includes(word));
    const begins = this.found.findIndex(({ name }) => plainWord(name).startsWith(word));
    const chosen = this.found.findIndex(({ code }) => code === this.props.chosen);
    this.at = Math.max(0, word ? begins : chosen);
    this.list.replaceChildren(...this.found.map((option, i) => this.item(option, i)));
    if (!this.found.length)
      this.list.append(el("li", { class: "none", text: t("No language has this name.") }));
    this.list.hidden = false;
    this.field.setAttribute("aria-expanded", "true");
    const { bottom } = this.field.getBoundingClientRect();
    this.list.style.maxHeight = `${Math.max(120, Math.min(320, innerHeight - bottom - ROOM))}px`;
    this.mark();
  }
  private close(): void {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
    const { chosen, options } = this.props;
    this.field.value = options.find(({ code }) => code === chosen)?.name ?? chosen;
  }
  private item({ code, name }: NamedLanguage, i: number): HTMLElement {
    const selected = code === this.props.chosen;
    const attributes = { role: "option", id: `${this.id}-${i}`, "aria-selected": selected };
    return el(
      "li",
      attributes,
      el("span", { text: name }),
      ...(name === code ? [] : [el("small", { text: code })]),
    );
  }
  private mark(): void {
    [...this.list.children].forEach((item, i) => item.classList.toggle("at", i === this.at));
    const item = this.list.children[this.at];
    if (!this.found.length) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView?.({ block: "nearest" });
  }
  private pick(at: number): void {
    const option = this.found[at];
    if (option) this.props.onPick(option.code);
    this.close();
  }
  private pressed(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const by = STEPS[event.key];
    if (by) {
      event.preventDefault();
      if (!this.isOpen) return this.open();
      const { length } = this.found;
      if (length) this.at = (this.at + by + length) % length;
      this.mark();
    } else if (event.key === "Enter" && this.isOpen) {
      event.preventDefault();
      this.pick(this.at);
    } else if (event.key === "Escape" && this.isOpen) {
      event.stopPropagation(); // it closes the list, and stops no translation
      this.close();
      this.field.select();
    }
  }
}

export const combo = (
  props: ComboProps,
): { node: HTMLElement; update: (props: ComboProps) => void } => {
  const made = new Combo(props);
  return { node: made.node, update: (next) => made.update(next) };
};
