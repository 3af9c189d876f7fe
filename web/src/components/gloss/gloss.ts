/* The translation word by word: pinyin and meaning, for who does not read Chinese. */

import { el, write } from "../../dom/element";
import { recall, remember } from "../../dom/storage";
import { tagOf } from "../../i18n/language";
import { t } from "../../i18n/words";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import { type Glossed, canGloss, glossOf } from "../../trace/gloss";

type Needs = Pick<ExplorerContext, "root" | "find" | "state" | "trace" | "set">;

/** Under which the browser remembers whether it is shown. */
const KEY = "gloss";

const word = (x: Needs, { text, pinyin, meaning, from }: Glossed): HTMLElement => {
  const { src, tgt } = x.trace.checkpoint;
  const { layer, head } = x.trace.leading;
  const place = `L${layer + 1} H${head + 1}`;
  const told = {
    head: t("The source word that {head}, the head that aligns best, looks at", {
      head: place,
    }),
    glossary: t("From a glossary learned from sentence pairs: {head} looks at no single word", {
      head: place,
    }),
    "": t("Neither {head} nor the glossary knows a word for it", { head: place }),
  };
  return el(
    "li",
    {},
    el("span", { class: "said", lang: tagOf(tgt), text }),
    el("span", { class: "pinyin", lang: "zh-Latn-pinyin", text: pinyin }),
    el("span", {
      class: from === "glossary" ? "book" : "",
      lang: tagOf(src),
      title: told[from],
      text: meaning || "–",
    }),
  );
};

export const makeGloss = (x: Needs): Part => {
  const toggle = x.find(".gloss-toggle");
  const list = x.find("#gloss");
  let shown = recall(KEY) === "shown";
  let words: Glossed[] = [];
  const build = () => {
    const there = canGloss(x.trace);
    const on = there && shown;
    toggle.hidden = !there;
    toggle.setAttribute("aria-expanded", String(on));
    write(toggle, t("Word by word"));
    x.find(".gloss-name").textContent = x.trace.gloss ? t("Pinyin and meaning") : t("Meaning");
    x.root.querySelectorAll<HTMLElement>(".gloss-row").forEach((node) => (node.hidden = !on));
    words = on ? glossOf(x.trace) : [];
    list.replaceChildren(...words.map((each) => word(x, each)));
  };
  const mark = () =>
    words.forEach(({ tokens }, n) =>
      list.children[n].classList.toggle("now", tokens.includes(x.state.step)),
    );
  const paint = (changed: Changed) => {
    if (changed.has("trace") || changed.has("language")) build();
    mark();
  };
  toggle.addEventListener("click", () => {
    shown = !shown;
    remember(KEY, shown ? "shown" : "hidden");
    build();
    mark();
    x.set({ size: {} }); // the maps give way
  });
  return { needs: "trace step language".split(" "), paint };
};
