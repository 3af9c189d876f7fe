/* The direction that a group of radios chooses, with the languages that are chosen beside it. */

import { languagePickers } from "../../components/languages/languages";
import type { ExplorerServer, Languages, Readiness } from "../../protocol/server";
import { type LanguagePair, readDirection, writeDirection } from "../../state/direction";
import { pageData } from "../../tabs/page";

export type Asks = Pick<ExplorerServer, "ready">;

/**
 * What was chosen of each checkpoint, by the id of the radios and its name; nothing: as it is by
 * itself.
 */
const chosen = new Map<string, LanguagePair>();

const key = (id: string, name: string): string => `${id} ${name}`;
const nameIn = (id: string): string =>
  document.querySelector<HTMLInputElement>(`#${id} input:checked`)?.value ??
  pageData().directions[0];

/** The direction that the radios `id` and their pickers ask for. */
export const directionIn = (id: string): string => {
  const name = nameIn(id);
  return writeDirection(name, chosen.get(key(id, name)) ?? null);
};

/** Whether a group of radios offers the checkpoint of a direction. */
export const offersDirection = (id: string, direction: string): boolean =>
  !!radioOf(id, readDirection(direction).name);
const radioOf = (id: string, name: string): HTMLInputElement | null =>
  document.querySelector<HTMLInputElement>(`#${id} input[value="${CSS.escape(name)}"]`);

/** Remember the languages of a direction; its radio is checked by whoever fills the fields. */
export const rememberLanguages = (id: string, direction: string): void => {
  const { name, pair } = readDirection(direction);
  if (pair) chosen.set(key(id, name), pair);
  else chosen.delete(key(id, name));
};

/** Choose a direction as a visitor would. */
export const setDirectionIn = (id: string, direction: string): void => {
  const radio = radioOf(id, readDirection(direction).name);
  if (!radio || direction === directionIn(id)) return;
  rememberLanguages(id, direction);
  if (radio.checked) changed(id);
  else choose(radio, document.querySelectorAll<HTMLInputElement>(`#${id} input`));
};

/**
 * Choose one of several radios. Gradio names each apart, so that no browser unchecks the others,
 * and does so itself only after those who listen to a click that is not a person's.
 */
export const choose = (radio: HTMLInputElement, group: Iterable<HTMLInputElement>): void => {
  for (const each of group) if (each !== radio) each.checked = false;
  radio.click();
};

/** Tell everybody who listens to the radios. */
const changed = (id: string): void => {
  document.getElementById(id)?.dispatchEvent(new Event("change", { bubbles: true }));
};

const AGAIN = 1000; // ms between two questions
const SELDOM = 5000; // where nobody has asked for the model yet

/**
 * What stands beside the radios `id`: pickers, as long as the checkpoint that is chosen has many
 * languages.
 */
class LanguageRow {
  private readonly known = new Map<string, Languages | null>();
  private pickers: ReturnType<typeof languagePickers> | null = null;
  private timer = 0;

  constructor(
    private readonly id: string,
    private readonly place: (node: HTMLElement) => void,
    private readonly server: Asks,
  ) {
    document.addEventListener("change", (event) => {
      if ((event.target as Element).closest(`#${id}`)) void this.look();
    });
    addEventListener("explorer-language", () => this.draw());
    void this.look();
  }

  /** Ask whether the checkpoint has many languages, until its model is there or refused. */
  async look(): Promise<void> {
    clearTimeout(this.timer);
    this.draw();
    const name = nameIn(this.id);
    if (this.known.has(name)) return;
    const lost = (): Readiness => ({ state: "" });
    const { state, languages } = await this.server.ready({ direction: name }).catch(lost);
    if (name !== nameIn(this.id)) return;
    if (state === "ready") {
      this.known.set(name, languages ?? null);
      this.draw();
    } else this.timer = window.setTimeout(() => void this.look(), state ? AGAIN : SELDOM);
  }
  private draw(): void {
    const name = nameIn(this.id);
    const languages = this.known.get(name);
    if (!languages) {
      if (this.pickers) this.pickers.node.hidden = true;
      return;
    }
    const [src, tgt] = languages.own;
    const props = {
      languages,
      chosen: chosen.get(key(this.id, name)) ?? { src, tgt },
      onChoose: (pair: LanguagePair) => {
        chosen.set(key(this.id, name), pair);
        changed(this.id);
      },
    };
    if (!this.pickers) {
      this.pickers = languagePickers(props);
      this.place(this.pickers.node);
    } else this.pickers.update(props);
    this.pickers.node.hidden = false;
  }
}

/**
 * Keep language pickers beside the radios `id`; `place` puts them there. Gives what looks again.
 */
export const keepLanguages = (
  id: string,
  place: (node: HTMLElement) => void,
  server: Asks,
): (() => void) => {
  const row = new LanguageRow(id, place, server);
  return () => void row.look();
};

/**
 * Pickers of the page's own directions, below the tabs: they hold for the lab and the lesson too.
 */
export const keepPageLanguages = (server: Asks): (() => void) => {
  const place = (node: HTMLElement) => document.querySelector("#tabs > .tab-wrapper")?.after(node);
  return keepLanguages("direction", place, server);
};
