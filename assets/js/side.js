/* What stands beside the maps: the head's name and profile, its options, candidates, strongest links. */

const KIND_NAMES = { encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "cross attention" };
const ROLE_SAYS = {
  aligns: "Aligns source and translation", previous: "Looks one token back", same: "Looks at itself", next: "Looks one token ahead",
  sink: "Rests on specials and punctuation", diffuse: "Spreads evenly", mixed: "No single role",
};
const AGGREGATES = [
  ["layer-mean", "mean of the layer"], ["layer-max", "maximum of the layer"], ["head-mean", "mean of this head over layers"], ["head-max", "maximum of this head over layers"],
  ["all-mean", "mean of all heads"], ["all-max", "maximum of all heads"], ["chosen-mean", "mean of chosen heads"], ["chosen-max", "maximum of chosen heads"], ["rollout", "rollout (encoder)"],
];

/** The heads that an aggregate is made of. */
const aggregateHeads = (x, which) => {
  const { kind, layer, head, overlay } = x.state, { layers, heads } = x.trace.maps[kind], all = [];
  for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) all.push([l, h]);
  if (which === "layer") return all.filter(([l]) => l === layer);
  if (which === "head") return all.filter(([, h]) => h === head);
  return which === "chosen" ? (overlay.length ? overlay : [[layer, head]]) : all;
};

const makeHeadline = x => {
  const pick = { layer: x.find("#layer"), head: x.find("#head"), aggregate: x.find("#aggregate") };
  const fill = (select, count, value) => {
    if (select.options.length !== count) select.replaceChildren(...Array.from({ length: count }, (_, i) => el("option", { value: i, text: String(i + 1) })));
    select.value = value;
  };
  pick.layer.addEventListener("change", () => x.set({ layer: +pick.layer.value, hover: null }));
  pick.head.addEventListener("change", () => x.set({ head: +pick.head.value, hover: null }));
  pick.aggregate.addEventListener("change", () => x.set({ aggregate: pick.aggregate.value, ...(pick.aggregate.value === "rollout" ? { kind: "encoder" } : {}) }));
  x.segment("data-kind", value => ({ kind: value, hover: null, role: null, overlay: [], pins: { rows: [], columns: [] }, ...(x.state.aggregate === "rollout" && value !== "encoder" ? { aggregate: "layer-mean" } : {}) }));
  x.segment("data-view", value => ({ view: value, hover: null }));
  x.segment("data-unit", value => ({ unit: value, hover: null }));
  x.segment("data-scale", value => ({ scale: value }));
  const specials = x.find(".specials");
  specials.addEventListener("change", () => x.set({ specials: specials.checked ? "shown" : x.state.renormalise ? "renormalised" : "hidden", hover: null }));

  const paint = () => {
    const { kind, layer, head, view, aggregate } = x.state, { layers, heads } = x.trace.maps[kind], single = view !== "aggregate";
    fill(pick.layer, layers, layer);
    fill(pick.head, heads, head);
    pick.aggregate.replaceChildren(...AGGREGATES.map(([value, name]) => el("option", { value, text: t(name) })));
    pick.aggregate.value = aggregate;
    if (pick.aggregate.hidden !== single) { pick.aggregate.hidden = single; x.moved(); }  // the options may need a line more
    for (const name of ["kind", "view", "unit", "scale"]) x.root.querySelectorAll(`button[data-${name}]`).forEach(button => button.setAttribute("aria-pressed", String(button.dataset[name] === x.state[name])));
    x.find(".kind-name").textContent = t(KIND_NAMES[kind]);
    const map = x.map(), share = shareOn(x.trace, kind, map, SPECIAL), picture = x.picture();
    specials.checked = x.state.specials === "shown";
    x.find(".special-share").textContent = t("{share} of weight", { share: percent(share) });
    const note = { shown: "", hidden: "Special tokens are hidden: {share} of the weight is not shown, rows no longer sum to 1", renormalised: "Special tokens are hidden and every row is scaled to sum to 1 again; {share} of the weight was theirs" }[x.state.specials];
    x.find(".state-note").textContent = note ? t(note, { share: percent(picture.hidden) }) : "";
    profile(single, picture);
  };
  const profile = (single, picture) => {
    const { kind, layer, head, aggregate } = x.state, box = x.find(".profile"), part = (...nodes) => el("span", {}, ...nodes);
    x.find(".usual").textContent = "";
    if (!single) {
      const many = aggregate === "rollout" ? 0 : aggregateHeads(x, aggregate.split("-")[0]).length;
      const name = el("b", { text: t(AGGREGATES.find(([value]) => value === aggregate)[1]) });
      const detail = aggregate === "rollout" ? t("Abnar and Zuidema 2020, equation 1") : aggregate.endsWith("max") ? t("{n} heads; rows may sum to more than 1", { n: many }) : t("{n} heads", { n: many });
      return box.replaceChildren(part(name), part(detail));
    }
    if (!x.trace.heads) return box.replaceChildren(part(t("The translation is being written")));
    const stats = x.trace.stats(kind, layer, head), usual = usually(x.trace, kind, layer, head);
    box.replaceChildren(
      part(el("b", { text: t(ROLE_SAYS[stats.role]) })),
      part(...tParts("entropy {h} nats", { h: stats.entropy.toFixed(1) })),
      part(...tParts("{share} on its strongest key", { share: percent(stats.confidence) })),
      part(...tParts("distance {d}", { d: stats.distance.toFixed(1) })),
    );
    x.find(".usual").textContent = usual ? usual.text : "";
    x.find(".usual").title = usual ? usual.title : "";
  };
  return { needs: ["trace", "kind", "layer", "head", "view", "map", "unit", "specials", "scale", "aggregate", "overlay", "language", "renormalise"], paint };
};

/** What a head mostly does over the corpus that its checkpoint was profiled on; one sentence may differ. */
const usually = (trace, kind, layer, head) => {
  const { profile } = trace, at = trace.maps[kind] && layer * trace.maps[kind].heads + head, role = profile && profile.roles[kind] && profile.roles[kind][at];
  if (!role) return null;
  const rate = kind === "cross" && profile.rates[at] !== undefined ? ", " + t("alignment error rate {rate}", { rate: profile.rates[at].toFixed(2) }) : "";
  return { role, text: t("usually: {role}", { role: pageLanguage() === "en" ? ROLE_NAMES[role].toLowerCase() : t(ROLE_NAMES[role]) }), title: t(ROLE_SAYS[role]) + ", " + t("over {n} sentences of {data}", { n: profile.sentences, data: profile.data }) + rate };
};

/** The folded sheet: choices that are seldom changed, and the paper's figures. */
const makeMore = x => {
  const sheet = x.find(".more .sheet"), details = x.find(".more");
  const choice = (name, options, label) => {
    const select = el("select", { class: "pick", on: { change: () => x.set({ [name]: select.value }) } });
    select.append(...options.map(([value, text]) => el("option", { value, text: t(text) })));
    select.value = x.state[name];
    return el("label", { class: "line" }, el("span", { text: t(label) }), select);
  };
  const check = (name, label, extra = {}) => el("label", { class: "check" }, el("input", { type: "checkbox", checked: x.state[name], on: { change: event => x.set({ [name]: event.target.checked, ...(extra[event.target.checked] || {}) }) } }), t(label));
  const button = (text, run) => el("button", { type: "button", class: "btn", text: t(text), on: { click: () => { run(); details.open = false; } } });
  const paper = (chosen, only) => () => {
    if (x.trace.live) return;
    x.set({ kind: "encoder", view: "arcs", only, pins: { rows: [], columns: [] }, hover: null });  // the head may give way
    x.set({ overlay: chosen(x.state) });
  };
  const three = paper(() => aggregateHeads(x, "layer").slice(0, 8), true), four = paper(() => [], false);
  const five = paper(({ layer, head }) => [[layer, head], [layer, (head + 1) % x.trace.maps.encoder.heads]], true);
  const paint = () => {
    const { pins, overlay } = x.state, parts = [
      choice("labels", [["both", "reads and predicts"], ["reads", "query (reads)"], ["predicts", "predicts"]], "Rows are named by what they"),
      choice("palette", [["house", "zero is the page"], ["viridis", "Viridis"], ["cividis", "Cividis"]], "Colours"),
      choice("tile", [["map", "whole maps"], ["row", "the chosen row only"]], "Tiles show"),
      check("renormalise", "Scale rows to 1 when specials are hidden", x.state.specials === "shown" ? {} : { true: { specials: "renormalised" }, false: { specials: "hidden" } }),
      check("only", "Arcs of the chosen row only"),
      el("p", { class: "cap", text: t("The paper's figures, on this sentence") }),
      el("div", { class: "ends" }, button("3: one word, all heads", three), button("4: one head, whole", four), button("5: one word, two heads", five)),
      el("p", { class: "cap", text: t("Shift-click a tile to lay heads over each other; shift-click a cell, or press P, to pin its row and column") }),
    ];
    const clear = [];
    if (overlay.length) clear.push(button("Clear chosen heads", () => x.set({ overlay: [] })));
    if (pins.rows.length || pins.columns.length) clear.push(button("Clear pins", () => x.set({ pins: { rows: [], columns: [] } })));
    if (clear.length) parts.push(el("div", { class: "ends" }, ...clear));
    sheet.replaceChildren(...parts);
  };
  document.addEventListener("pointerdown", event => { if (details.open && !details.contains(event.target)) details.open = false; });
  details.addEventListener("keydown", event => { if (event.key === "Escape") { details.open = false; details.querySelector("summary").focus(); event.stopPropagation(); } });
  return { needs: ["trace", "labels", "palette", "tile", "specials", "renormalise", "only", "pins", "overlay", "language"], paint };
};

/** The likeliest tokens of a step and what is left for all others: [{ s, p, f, chosen }], `rest` last. */
const candidatesOf = (trace, step, room) => {
  const { c, lp } = trace.steps[step], chosen = trace.tgt[step], items = c.slice(0, room).map(each => ({ ...each, p: Math.exp(each.lp), chosen: each.i === chosen.i }));
  if (!items.some(each => each.chosen)) items.splice(room - 1, 1, { s: chosen.s, p: Math.exp(lp), f: chosen.f, chosen: true });
  return [...items, { s: t("all others"), p: Math.max(0, 1 - items.reduce((sum, each) => sum + each.p, 0)), f: 0, rest: true }];
};

const makeSide = x => {
  const list = x.find(".cand"), table = x.find(".links tbody"), alive = x.find(".beams"), hypotheses = x.find(".beam-list");
  const bar = (text, p, name, special = false) => {
    const item = el("li", { class: name }, el("span", { class: "t" + (special ? " sp" : ""), text: cut(text), title: text }), el("span", { class: "bar1" }), el("span", { class: "p", text: two(p) }));
    item.children[1].style.setProperty("--w", 100 * clamp(p, 0, 1) + "%");
    return item;
  };
  const candidates = () => {
    const { step } = x.state, lang = LANGUAGES[x.trace.checkpoint.tgt] || "";
    x.find(".at-step").textContent = t("at step {n}", { n: step + 1 });
    list.lang = lang;
    const items = candidatesOf(x.trace, step, phone() ? 8 : searched() ? 3 : 6);
    list.replaceChildren(...items.map(each => bar(each.s, each.p, each.chosen ? "pickd" : each.rest ? "rest" : "", each.f & SPECIAL)));
    beams(lang);
  };
  const searched = () => x.trace.steps.some(step => step.b);
  /** The hypotheses of a beam search that were alive, or ended, at this step: each by its end, with its score. */
  const beams = lang => {
    const kept = x.trace.steps[x.state.step].b || [];
    alive.hidden = !searched();
    hypotheses.lang = lang;
    x.find(".beams-note").textContent = t("{n} at step {step}", { n: kept.length, step: x.state.step + 1 });
    hypotheses.replaceChildren(...kept.map(({ s, lp, n, p, e, w }) => el("li", { class: w ? "pickd" : "", title: [s, `log p ${lp.toFixed(2)}`, t("after the length penalty {n}", { n: n.toFixed(2) }), x.state.step ? t("grew from number {n}", { n: p + 1 }) : "", e ? t("ended") : ""].filter(Boolean).join("\n") },
      el("bdi", { class: "t", text: s || "∅" }), el("span", { class: "p", text: (e ? "■ " : "") + n.toFixed(2).replace("-", "−") }))));
  };
  const links = () => {
    const { kind, step } = x.state, picture = x.picture(), row = x.rowIndex(picture), colours = x.colours();
    x.find(".links-note").textContent = kind === "encoder" ? (picture.rows[row] ? t("of {token}", { token: picture.rows[row].text }) : "") : t("at step {n}", { n: step + 1 });
    table.replaceChildren(...strongest(picture, row, searched() && !phone() ? 3 : 5).map(link => {
      const swatch = el("span", { class: "sw" });
      swatch.style.background = rgb(colours[Math.round(256 * clamp(link.weight, 0, 1))]);
      return el("tr", {}, el("td", {}, swatch), el("th", { scope: "row" }, cut(link.text), el("small", { text: link.position })), el("td", { text: two(link.weight) }));
    }));
  };
  const paint = changed => {
    if (["trace", "step", "language", "size"].some(name => changed.has(name))) candidates();
    links();
  };
  return { needs: ["trace", "step", "query", "kind", "map", "unit", "specials", "colours", "language", "size"], paint };
};

/** The read-out under the large map, and the legend of its colours. */
const makeReadout = x => {
  const out = x.find(".readout"), bar = x.find(".scale canvas");
  let said = null;
  const paint = changed => {
    if (changed.has("colours") || changed.has("trace") || changed.has("language") || changed.has("scale")) {
      const table = x.colours();
      paintBar(bar, at => table[Math.round(256 * at)]);
      x.find(".scale-name").textContent = t({ linear: "attention weight", root: "attention weight, square root", row: "share of the row's largest weight" }[x.state.scale]);
    }
    if (said) return;
    const picture = x.picture(), { hover, kind } = x.state, row = x.rowIndex(picture);
    const i = hover ? hover.i : row, values = picture.z[i], j = hover ? hover.j : values ? values.indexOf(Math.max(...values)) : -1;
    if (!values || !picture.columns[j]) return out.replaceChildren();
    const words = { reads: kind === "encoder" ? picture.rows[i].text : picture.rows[i].reads, predicts: picture.rows[i].predicts, key: picture.columns[j].text, weight: values[j].toFixed(hover ? 4 : 2) };
    out.replaceChildren(...(picture.masked(i, j) ? tParts("{reads} cannot look at {key}: it is not written yet", words)
      : kind === "encoder" ? tParts("{reads} looks at {key} {weight}", words) : tParts("reads {reads}, predicts {predicts}, looks at {key} {weight}", words)));
  };
  const say = nodes => {
    said = nodes;
    if (nodes) out.replaceChildren(...nodes);
    else if (x.trace) paint(new Set());
  };
  return { needs: ["trace", "kind", "map", "step", "query", "hover", "unit", "specials", "scale", "colours", "language"], paint, say };
};
