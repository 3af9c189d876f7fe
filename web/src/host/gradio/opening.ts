/* What the page opens with: what its address says, or the first example. */

import { t } from "../../i18n/words";
import { directionInSearch, readDirection } from "../../state/direction";
import { fragment, keepFragment, typedSince } from "../../state/kept";
import { pairOf } from "../../state/pair";
import { type Linked, permalink, readPermalink } from "../../state/permalink";
import { type Example, type Field, firstExample, pageData } from "../../tabs/page";
import type { Explorer } from "../../tabs/explorer/explorer";
import type { Examples } from "./examples";
import { field, setField } from "./fields";
import { within } from "./listening";

/** The text, the direction, and the decoding settings in the order of the page's inputs. */
export type Fields = [text: string, direction: string, ...settings: unknown[]];

export interface Opening {
  /** The direction that the address asks for. */
  asked: string | null;
  /** What the address links to, if this page translates it. */
  linked: Linked | null;
  /** What to fill Gradio's fields with; `current` is what they hold. */
  fields(current: Fields): Fields;
  /** Whether what was linked to has to be translated yet; only once. */
  isPending(): boolean;
  /**
   * What was typed before Gradio filled the field, or before the page was loaded again, is put back
   * into the field; false: nothing was, or it has been.
   */
  retype(): boolean;
}

/**
 * Keep what is shown, and what is typed since, with the present entry of the browser's history; no
 * server sees it.
 */
export const keepShown = (x: Explorer): void => {
  if (!x.trace || x.trace.live) return;
  const text = field("source-text")?.value ?? "";
  keepFragment(new URL(permalink(x)).hash, text === x.trace.source ? "" : text);
};

const offered = (way: string | null): boolean =>
  !!way && pageData().directions.includes(readDirection(way).name);

/** What `?text=` asks for, as other pages link to this one. */
const textInSearch = (search: string): Linked | null => {
  const text = new URLSearchParams(search).get("text");
  return text ? readPermalink(new URLSearchParams({ t: text }).toString()) : null;
};

/**
 * The direction that the address or else the browser's language asks for, and what is linked to,
 * offered or not.
 */
const readAddress = (): { asked: string | null; link: Linked | null } => {
  const { directions, hub } = pageData();
  const asked =
    directionInSearch(location.search, directions) ?? pairOf(navigator.language, directions, hub);
  const link = readPermalink(fragment()) ?? textInSearch(location.search);
  if (link) link.direction ||= asked || directions[0];
  return { asked, link };
};

/** The example whose translation is what a link means. */
const storedOf = ({ text, direction: way, settings, prefix }: Linked): Example | undefined =>
  Object.keys(settings).length || prefix.length
    ? undefined
    : pageData().examples.find((each) => each.text === text && each.direction === way);

/** The example that the page will open with, as far as its address says so. */
export const opensWith = (): Example | undefined => {
  const { asked, link } = readAddress();
  if (link) return storedOf(link);
  const { directions } = pageData();
  const own = asked && directions.includes(asked) ? firstExample(asked) : undefined;
  return own ?? firstExample(directions[0]);
};

export const readOpening = (x: Explorer, examples: Examples): Opening => {
  const { directions, settings: names } = pageData();
  const { asked, link } = readAddress();
  const linked = link && offered(link.direction) ? link : null;
  let pending = false;
  let typed = linked ? typedSince() : "";
  let early = ""; // by a person who did not wait until Gradio had filled the field
  const hear = (event: Event): void => {
    const typing = event.isTrusted && within(event, "#source-text");
    if (typing) early = (event.target as Field).value;
  };
  document.addEventListener("input", hear);

  const first = (current: Fields): Fields => {
    const way = link ? link.direction : asked;
    const known = offered(way);
    const which = known ? way! : current[1];
    if (way && !known) {
      const words = { name: way.slice(0, 20), known: directions.join(", ") };
      x.notice(t("There is no direction {name}; this page translates {known}.", words), true);
    }
    const example = firstExample(which);
    if (example && which !== current[1] && examples.meant() !== example.id)
      setTimeout(() => void examples.open(example.id, true), 0);
    return [example ? example.text : current[0], which, ...current.slice(2)];
  };
  const follow = (link: Linked, current: Fields): Fields => {
    const { text, direction: way, settings } = link;
    const stored = storedOf(link);
    if (stored) setTimeout(() => void examples.open(stored.id, true), 0);
    else pending = true;
    const given: Record<string, unknown> = { ...settings };
    const rest = current.slice(2).map((value, i) => (names[i] in given ? given[names[i]] : value));
    return [text, way!, ...rest];
  };
  return {
    asked,
    linked,
    fields: (current) => (linked ? follow(linked, current) : first(current)),
    isPending: () => {
      const was = pending && !early;
      document.removeEventListener("input", hear);
      pending = false;
      return was;
    },
    retype: () => {
      const node = field("source-text");
      const text = early || (node?.value === linked?.text ? typed : "");
      early = typed = "";
      if (!text) return false;
      setField(node, text);
      return true;
    },
  };
};
