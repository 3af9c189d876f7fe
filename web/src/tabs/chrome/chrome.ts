/* The language and the theme of the whole page. */

import { dark } from "../../dom/screen";
import { recall, remember } from "../../dom/storage";
import { plant } from "../../dom/template";
import { fetchWords, LANGUAGES, pageLanguage, tables } from "../../i18n/language";
import { t, tText } from "../../i18n/words";
import markup from "./chrome.html";

/** What each text said in English, and what it was made to say. */
const spoken = new WeakMap<Text, { english: string; now: string }>();
/** What is not ours to translate. */
const OTHERS = "script,style,textarea,[translate=no],.plot";

/**
 * Whether texts in an element are the page's to translate: the explorer speaks by itself, the
 * settings in it do not.
 */
const isOurs = (element: Element | null): boolean =>
  !!element && !element.closest(OTHERS) && !element.closest("#settings, .ax")?.matches(".ax");

/**
 * Set an attribute, unless it is so already: a language set anew has every element's style computed
 * again.
 */
const setIfOther = (node: Element, name: string, value: string): void => {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
};

/** Put each sentence that the tables know in the page's language. */
const speakTexts = (): void => {
  const table = tables()[pageLanguage()] || {};
  const [known] = Object.values(tables()); // every table has the same sentences
  if (!known) return; // an English page has fetched none
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (!isOurs(node.parentElement)) continue;
    const original = spoken.get(node);
    const english = original && original.now === node.data ? original.english : node.data;
    const key = english.trim();
    if (!key || !(key in known)) continue;
    const now = english.replace(key, () => table[key] || key);
    if (node.data !== now) node.data = now;
    spoken.set(node, { english, now });
  }
};

/** Put the page's words, Gradio's included, in the page's language. */
const speakPage = (): void => {
  speakTexts();
  setIfOther(document.documentElement, "lang", LANGUAGES[pageLanguage()]);
  for (const node of document.querySelectorAll<HTMLElement>("[data-english-label]"))
    setIfOther(node, "aria-label", tText(node.dataset.englishLabel!));
  for (const group of document.querySelectorAll("fieldset:has([data-testid=block-info])")) {
    const info = group.querySelector("[data-testid=block-info]")!; // which Gradio hides
    setIfOther(group, "aria-label", info.textContent.trim());
  }
};

const setLanguage = async (name: string): Promise<void> => {
  remember("language", name);
  if (name !== "en") await fetchWords(name);
  speakPage();
  dispatchEvent(new Event("explorer-language"));
};

/** Tell everybody when the theme is another, whoever changed it. */
const watchTheme = (changed: () => void): void => {
  let was = dark();
  const look = () => {
    if (dark() === was) return;
    was = dark();
    changed();
    dispatchEvent(new Event("explorer-theme"));
  };
  const attributes = { attributes: true, attributeFilter: ["class"] };
  new MutationObserver(look).observe(document.body, attributes);
};

/** Paper is white: a dark page is printed in its light theme, whose ink can be read there. */
const watchPrinter = (): void => {
  let was = false;
  addEventListener(
    "beforeprint",
    () => {
      was = dark();
      document.body.classList.remove("dark");
    },
    { capture: true }, // before whoever draws
  );
  addEventListener("afterprint", () => document.body.classList.toggle("dark", was || dark()));
};

/** What Gradio draws later speaks the page's language too. */
const watchWords = (): void => {
  let queued = 0;
  const later = (changes: MutationRecord[]) => {
    if (!changes.some(({ target }) => isOurs(target as Element))) return;
    queued ||= requestAnimationFrame(() => {
      queued = 0;
      speakPage();
    });
  };
  new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
};

export const mountChrome = (element: Element): void => {
  const box = plant(element, markup);
  const languages = box.querySelectorAll<HTMLElement>("[data-language]");
  const theme = box.querySelector(".theme")!;
  const paint = () => {
    for (const button of languages) {
      const on = button.dataset.language === pageLanguage();
      button.setAttribute("aria-pressed", String(on));
    }
    theme.setAttribute("aria-label", t("Dark mode"));
    theme.setAttribute("aria-pressed", String(dark()));
  };
  for (const button of languages)
    button.addEventListener("click", () => {
      void setLanguage(button.dataset.language!).then(paint);
    });
  theme.addEventListener("click", () => {
    document.body.classList.toggle("dark");
    remember("theme", dark() ? "dark" : "light");
    paint();
  });
  watchTheme(paint);
  watchPrinter();
  const stored = recall("theme");
  if (stored) document.body.classList.toggle("dark", stored === "dark");
  watchWords();
  speakPage();
  paint();
};
