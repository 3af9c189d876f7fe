/* Input health, before and after: how a text is split, what was normalised, how near its limits it
   is. */

import { TICK, el, icon } from "../../dom/element";
import { clamp } from "../../format/number";
import { tagOf } from "../../i18n/language";
import { percent } from "../../i18n/numerals";
import { t, tMessage, tParts } from "../../i18n/words";
import type { Health, Kind, Marks, Piece } from "../../protocol/messages";
import { askAbout, labAnswers } from "../../state/ask";
import type { ExplorerContext } from "../../state/context";
import { piecesOf, specialShares } from "../../trace/share";
import type { Translation } from "../../trace/translation";

type Needs = Pick<ExplorerContext, "find" | "set"> & { sayOnce: () => void };
type Nodes = (Node | string)[];

/** What is known of a text; some of it only once it is translated. */
export interface Facts extends Health {
  /** Every word in pieces. */
  split?: Piece[][];
  /** Shares of the weight on special tokens. */
  shares?: Record<Kind, number>;
  truncated?: boolean;
  /** How many tokens were produced. */
  produced?: number;
  /** The language that it seems to be in, where that is another one. */
  language?: string;
  /** The direction that translates from it; "": there is none. */
  switch?: string;
  /** What may have been left out and invented, and what asks the lab about it. */
  doubts?: Marks;
  ask?: () => void;
  /** Nothing was typed; then nothing else is there. */
  empty?: boolean;
  /** Nobody has counted this text yet; then nothing else is there. */
  uncounted?: boolean;
  /** Why nothing can be said; then nothing else is there. */
  error?: string;
}

export interface HealthStrip {
  /** Show what is known of a text in `language`. */
  facts(facts: Facts, language?: string): void;
  /** What was found of a text, whether or not it is translated by now: its language stays said. */
  seems(text: string, direction: string, facts: Facts): void;
  /** Show what is known of a translated text. */
  show(trace: Translation): void;
  /** More is known of a translated text; what is shown of another text stays. */
  marked(trace: Translation): void;
  /** Whether it shows just these. */
  holds(facts: Facts): boolean;
  /** Say it again, in another language. */
  speak(): void;
  /** Whether the strip says this sentence. */
  says(text: string): boolean;
}

const NEAR = 0.9; // of a limit

const good = (...nodes: Nodes): HTMLElement => el("li", {}, icon(TICK), ...nodes);
const bad = (...nodes: Nodes): HTMLElement =>
  el("li", { class: "bad" }, el("b", { class: "alarm", text: "!" }), ...nodes);
const plain = (...nodes: Nodes): HTMLElement => el("li", {}, ...nodes);
const still = (text: string): HTMLElement => plain(el("span", { class: "cap", text }));
const strong = (text: string): HTMLElement => el("b", { text });

/** How many words and subwords, as a bar of the limit; what unfolds the split. */
const counts = ({ words, tokens, limit, split }: Facts, open: boolean, toggle: () => void) => {
  const meter = el("span", { class: "meter", "aria-hidden": "true" });
  meter.style.setProperty("--w", 100 * clamp(tokens / limit, 0, 1) + "%");
  const text = tParts(
    words === 1
      ? "{words} word → {n} subwords of {limit}"
      : "{words} words → {n} subwords of {limit}",
    { words: String(words), n: String(tokens), limit: document.createTextNode(String(limit)) },
  );
  const button = el(
    "button",
    {
      type: "button",
      class: "counts",
      "aria-expanded": String(open),
      "aria-controls": "split",
      title: t("Show the split"),
      on: { click: toggle },
    },
    icon("M6 4l4 4-4 4"),
    el("span", {}, ...text),
    meter,
  );
  button.disabled = !split?.length;
  return el("li", {}, button);
};

const limits = ({ problem, tokens, limit }: Facts): HTMLElement => {
  if (problem) return bad(strong(tMessage(problem)));
  return tokens >= NEAR * limit ? bad(strong(t("near the limit"))) : good(t("within the limit"));
};

/** What was found in the text. */
const findings = ({ unknown, bytes, normalised, changed }: Facts): HTMLElement[] => {
  const unknowns = tParts("{n} unknown", { n: String(unknown) });
  const items = bytes && !unknown ? [] : [unknown ? bad(...unknowns) : good(...unknowns)];
  if (bytes) {
    const n = String(bytes);
    items.push(
      bad(
        ...tParts("{n} subwords are raw bytes of characters that are not in the vocabulary", { n }),
      ),
    );
  }
  if (normalised) {
    const said = changed === 1 ? "{n} character normalised" : "{n} characters normalised";
    items.push(plain(...tParts(said, { n: String(changed) })));
  }
  return items;
};

/** Tells whoever holds the fields that another direction is wanted: `detail` is its name. */
export const SWITCH = "explorer-switch";

/** That it seems to be in another language, and the way there. */
const foreign = ({ language, switch: other }: Facts, box: HTMLElement): HTMLElement[] => {
  if (!language) return [];
  const item = bad(strong(looksLike(language)));
  if (!other) return [item];
  const ask = () => box.dispatchEvent(new CustomEvent(SWITCH, { bubbles: true, detail: other }));
  item.append(
    " ",
    el("button", { type: "button", class: "btn switch", text: t("Switch"), on: { click: ask } }),
  );
  return [item];
};
const looksLike = (language: string): string => {
  if (language === "de") return t("This looks like German");
  if (language === "en") return t("This looks like English");
  if (language === "zh") return t("This looks like Chinese");
  return t("This looks like another language ({code})", { code: language });
};

/** What the translation brought. */
const outcome = ({ shares, problem, truncated, produced }: Facts): HTMLElement[] => {
  const items: HTMLElement[] = [];
  if (shares) {
    const share = percent(shares.cross);
    items.push(plain(...tParts("{share} of cross-attention goes to special tokens", { share })));
  } else if (!problem) items.push(still(t("not translated yet")));
  if (truncated) {
    const n = produced ?? 0;
    items.push(bad(strong(t("stopped at {n} tokens; raise the limit in Settings", { n }))));
  }
  return items;
};

/**
 * Words that are marked, by which the lab is asked about them, and how often such a mark is right.
 */
const doubt = (side: "src" | "tgt", { doubts, ask }: Facts): HTMLElement[] => {
  const marked = doubts?.[side] ?? [];
  if (!marked.length) return [];
  const words = el("em", { translate: "no", text: marked.map(({ s }) => s).join(", ") });
  const asked = side === "src" ? t("left out?") : t("unsupported?");
  const button = el(
    "button",
    {
      type: "button",
      class: "doubts",
      title: t("Ask the lab what was left out"),
      on: { click: ask! },
    },
    strong(asked),
    " ",
    words,
  );
  return [bad(button, el("span", { class: "cap", text: worth(side, doubts!) }))];
};
/** How often a mark is right, as it was measured. */
const worth = (side: "src" | "tgt", { rates }: Marks): string => {
  if (!rates) return t("not measured for this checkpoint");
  const found = Math.round(100 * rates[side].found);
  const wrong = (100 * rates[side].wrong).toFixed(1);
  return side === "src"
    ? t("such marks find {found} of 100 omissions and wrongly mark {wrong} of 100 other words", {
        found,
        wrong,
      })
    : t("such marks find {found} of 100 inventions and wrongly mark {wrong} of 100 other words", {
        found,
        wrong,
      });
};

const line = (name: string, content: HTMLElement): HTMLElement =>
  el("div", { class: "line" }, el("span", { class: "name", text: name }), el("div", {}, content));

/** The folded sheet: every word in pieces, what was normalised, the share of special tokens. */
const unfolded = ({ split, normalised, shares }: Facts, language: string): HTMLElement[] => {
  const piece = ({ s, u }: Piece) => el("span", { class: u ? "piece unknown" : "piece", text: s });
  const words = (split || []).map((pieces) => el("span", { class: "word" }, ...pieces.map(piece)));
  const read = normalised
    ? el("p", { text: normalised, translate: "no" })
    : el("p", { class: "muted", text: t("no changes") });
  const lines = [
    line(t("Split"), el("p", { class: "words", lang: language, translate: "no" }, ...words)),
    line(t("Normalised"), read),
  ];
  if (shares) {
    const [encoder, decoder, cross] = [shares.encoder, shares.decoder, shares.cross].map(percent);
    const said = tParts(
      "{encoder} of the encoder's weight, {decoder} of the decoder's and {cross} of cross-attention; none goes to padding, since one sentence is read at a time",
      { encoder, decoder, cross },
    );
    lines.push(line(t("On specials"), el("p", {}, ...said)));
  }
  return lines;
};

export const makeHealth = (x: Needs): HealthStrip => {
  const box = x.find("#input-health");
  const sheet = x.find("#split");
  let known: Facts | null = null;
  let of = "";
  const toggle = () => {
    sheet.hidden = !sheet.hidden;
    if (known) show(known);
    x.set({ size: {} });
  };
  const strip = (facts: Facts): HTMLElement[] =>
    facts.error
      ? [bad(strong(tMessage(facts.error)))]
      : facts.empty || facts.uncounted
        ? [still(facts.empty ? t("nothing typed yet") : t("not counted yet"))]
        : [
            counts(facts, !sheet.hidden, toggle),
            ...foreign(facts, box),
            limits(facts),
            ...findings(facts),
            ...outcome(facts),
            ...doubt("src", facts),
            ...doubt("tgt", facts),
          ];
  const show = (facts: Facts, language = of) => {
    known = facts;
    of = language;
    box.replaceChildren(...strip(facts));
    x.sayOnce();
    if (facts.error || facts.empty || facts.uncounted) sheet.hidden = true;
    else if (!sheet.hidden) sheet.replaceChildren(...unfolded(facts, of));
  };
  let translated: Translation | null = null;
  let seems = { text: "", direction: "", said: {} };
  const saidOf = ({ source, direction }: Translation) =>
    source === seems.text && direction === seems.direction ? seems.said : {};
  const showTrace = (trace: Translation) => {
    show(
      {
        ...trace.health!,
        ...saidOf(trace),
        split: piecesOf(trace),
        shares: specialShares(trace),
        truncated: trace.truncated,
        produced: trace.tgt.length,
        ...(labAnswers("omissions")
          ? { doubts: trace.marks, ask: () => askAbout(trace, "omissions") }
          : {}),
      },
      tagOf(trace.checkpoint.src),
    );
    translated = trace;
  };
  return {
    facts: (facts, language) => {
      translated = null;
      show(facts, language);
    },
    seems: (text, direction, { language, switch: other }) => {
      seems = { text, direction, said: language ? { language, switch: other } : {} };
      if (translated && language && saidOf(translated) === seems.said) showTrace(translated);
    },
    marked: (trace) => {
      if (translated === trace) showTrace(trace);
    },
    holds: (facts) => known === facts,
    speak: () => known && show(known),
    says: (text) =>
      !!text && [known?.error, known?.problem].some((each) => each && tMessage(each) === text),
    show: showTrace,
  };
};
