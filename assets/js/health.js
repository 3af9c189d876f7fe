/* Input health, before and after: how a text is split, what was normalised, how near its limits it is. */

const NEAR = .9;

/** A translated text's words in pieces, as the server splits one that is still being typed. */
const piecesOf = trace => {
  const words = [];
  trace.src.forEach((token, i) => {
    if (token.f & SPECIAL) return;
    const previous = trace.src[i - 1], piece = { s: token.s, u: token.f & UNKNOWN };
    if (previous && previous.w === token.w) words[words.length - 1].push(piece);
    else words.push([piece]);
  });
  return words;
};

/** The share of each kind's weight that special tokens get, over all heads. */
const specialShares = trace => Object.fromEntries(["encoder", "decoder", "cross"].map(kind => {
  const { layers, heads } = trace.maps[kind];
  let sum = 0;
  for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) sum += shareOn(trace, kind, trace.head(kind, l, h), SPECIAL);
  return [kind, sum / (layers * heads)];
}));

const makeHealth = x => {
  const box = x.find("#input-health"), sheet = x.find("#split");
  let facts = null, of = null;
  const item = (good, ...nodes) => el("li", { class: good === false ? "bad" : "" }, ...(good === undefined ? [] : [good ? icon(TICK) : el("b", { class: "alarm", text: "!" })]), ...nodes);

  const toggle = () => { sheet.hidden = !sheet.hidden; show(facts); x.set({ size: {} }); };
  const counts = ({ words, tokens, limit, split }) => {
    const meter = el("span", { class: "meter", "aria-hidden": "true" });
    meter.style.setProperty("--w", 100 * clamp(tokens / limit, 0, 1) + "%");
    const text = tParts(words === 1 ? "{words} word → {n} subwords of {limit}" : "{words} words → {n} subwords of {limit}", { words: String(words), n: String(tokens), limit: document.createTextNode(String(limit)) });
    const button = el("button", { type: "button", class: "counts", "aria-expanded": String(!sheet.hidden), "aria-controls": "split", title: t("Show the split"), on: { click: toggle } }, icon("M6 4l4 4-4 4"), el("span", {}, ...text), meter);
    button.disabled = !split || !split.length;
    return el("li", {}, button);
  };
  const strip = () => {
    if (facts.error) return [item(false, el("b", { text: tMessage(facts.error) }))];
    const items = [counts(facts)];
    if (facts.problem) items.push(item(false, el("b", { text: tMessage(facts.problem) })));
    else items.push(facts.tokens >= NEAR * facts.limit ? item(false, el("b", { text: t("near the limit") })) : item(true, t("nothing cut")));
    items.push(item(facts.unknown === 0, ...tParts("{n} unknown", { n: String(facts.unknown) })));
    if (facts.bytes) items.push(item(false, ...tParts("{n} subwords are bytes of characters that it does not know", { n: String(facts.bytes) })));
    if (facts.normalised) items.push(item(undefined, ...tParts(facts.changed === 1 ? "{n} character normalised" : "{n} characters normalised", { n: String(facts.changed) })));
    if (facts.shares) items.push(item(undefined, ...tParts("{share} of cross attention on specials", { share: percent(facts.shares.cross) })));
    else if (!facts.problem) items.push(item(undefined, el("span", { class: "cap", text: t("not translated yet") })));
    if (facts.truncated) items.push(item(false, el("b", { text: t("stopped at {n} tokens; raise the limit in Settings", { n: facts.produced }) })));
    return items;
  };
  const line = (name, ...nodes) => el("div", { class: "line" }, el("span", { class: "name", text: t(name) }), el("div", {}, ...nodes));
  const unfold = () => {
    const words = (facts.split || []).map(pieces => el("span", { class: "word" }, ...pieces.map(({ s, u }) => el("span", { class: u ? "piece unknown" : "piece", text: s }))));
    const lines = [line("Split", el("p", { class: "words", lang: of, translate: "no" }, ...words))];
    lines.push(line("Normalised", el("p", facts.normalised ? { text: facts.normalised, translate: "no" } : { class: "muted", text: t("nothing; it is read as it was typed") })));
    if (facts.shares) lines.push(line("On specials", el("p", {}, ...tParts("encoder {encoder}, decoder {decoder}, cross {cross} of the weight; on padding nothing, as a sentence is read alone", Object.fromEntries(Object.entries(facts.shares).map(([kind, share]) => [kind, percent(share)]))))));
    sheet.replaceChildren(...lines);
  };
  const show = (next, language = of) => {
    facts = next;
    of = language;
    box.replaceChildren(...strip());
    x.sayOnce();
    if (facts.error) sheet.hidden = true;
    else if (!sheet.hidden) unfold();
  };
  addEventListener("explorer-language", () => facts && show(facts));
  return {
    facts: show,
    says: text => !!text && !!facts && [facts.error, facts.problem].some(problem => problem && tMessage(problem) === text),
    show: trace => show({ ...trace.health, split: piecesOf(trace), shares: specialShares(trace), truncated: trace.truncated, produced: trace.tgt.length }, LANGUAGES[trace.checkpoint.src] || trace.checkpoint.src),
  };
};
