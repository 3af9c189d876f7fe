/* The lab: the head switchboard with its ribbons, and eleven further questions to the model. */

const LAB_KINDS = ["encoder", "decoder", "cross"];
const LAB_PLACE = [["layer", "Layer", "number", null], ["head", "Head", "number", null]];  // null: the server chooses the best aligning head
const LAB_KIND = ["kind", "Attention", LAB_KINDS, "cross"];
/** Each view: its name, two sentences on what it shows and does not, its source, its fields [name, label, type or choices, value]. */
const LAB_VIEWS = [
  ["force", "Force a target", "Your own translation through the model: the log-probability of each token and its rank among all of them, 1 the best. A high rank is not quality: the model judges by what it has read.", "Stahlberg & Byrne 2019", [["target", "Your translation", "text", ""], ["kind", "Attention", ["none", ...LAB_KINDS], "none"], ...LAB_PLACE]],
  ["edit", "Edit and continue", "Put another token at a step and let the model go on from there; left empty, the runner-up is taken. One change can turn the rest, which says how much hung on it, not why.", "Vaswani et al. 2017", [["step", "Step", "number", 2], ["choice", "Token", "text", ""]]],
  ["beams", "Beam tree", "Every hypothesis that a beam search kept, the pruned ones too, with its scores; greedy search stands beside it. The best score found need not be the best there is.", "Wu et al. 2016", [["beam", "Beams", "number:2:12", 4], ["penalty", "Length penalty", "range:0:2:0.1", 0.6]]],
  ["norms", "Norms", "A weight says how much of a key is read, its norm how large the vector is that arrives. Large vectors may still point where later layers do not look.", "Kobayashi et al. 2020", [LAB_KIND, ...LAB_PLACE]],
  ["rollout", "Rollout and flow", "Attention multiplied through all layers: which source token could reach which target token. It sees weights and assumes that residual connections carry half; values and feed-forward layers are left out.", "Abnar & Zuidema 2020", [["method", "Method", ["rollout", "flow"], "rollout"]]],
  ["lens", "Logit lens", "What each decoder layer would say if it were the last. Early layers were never trained to speak, so nonsense there does not mean that they do nothing.", "nostalgebraist 2020", []],
  ["faithfulness", "Faithfulness", "Takes away one source word at a time and compares the loss with the order that attention gives the words. A sentence with a hole is one the model never saw, so even this truth is only one of several.", "Jain & Wallace 2019", []],
  ["align", "Alignment", "Word links read off one head, a whole layer or its norms; paste links of your own in Pharaoh format to see the error rate, what was missed dashed. A head that aligns well need not be one that the model needs.", "Och & Ney 2003; Chen et al. 2020", [["map", "Map", ["raw", "norm"], null], ["layer", "Layer", "number", null], ["head", "Head (0: whole layer)", "number:0", null], ["reading", "Row belongs to", ["output", "input"], null], ["way", "Links by", ["argmax", "reverse", "both", "threshold"], "argmax"], ["threshold", "Threshold", "range:0.05:0.95:0.05", 0.3], ["gold", "Your links", "text", ""]]],
  ["profile", "Head profile", "What each head mostly does, measured over a corpus where the checkpoint ships one. A role is an average: on a single sentence a head may do something else.", "Voita et al. 2019; Clark et al. 2019", [LAB_KIND, ["measure", "Measure", ["confidence", "relative_entropy", "previous", "same", "next", "special", "punctuation"], "confidence"]]],
  ["positions", "Positions", "Shifts, scales or removes (scale 0) the position encodings and translates again. The model was trained without shifts, so a change shows habit as much as design.", "Vaswani et al. 2017", [["side", "Side", ["source", "target", "both"], "both"], ["shift", "Shift", "number:-50:500", 5], ["scale", "Scale", "range:0:2:0.05", 1]]],
  ["cell", "One cell", "One attention weight worked out: query, key, dot product, scaling, mask, softmax and what is carried. The numbers are exact; what a dimension means nobody can read off them.", "Vaswani et al. 2017", [LAB_KIND, ...LAB_PLACE, ["query", "Query row", "number", 1], ["key", "Key column", "number", 1]]],
];

const headsOff = off => (off ? (off === 1 ? t("1 head off") : t("{off} heads off", { off })) : t("all heads on"));

const mountLab = (element, server) => {
  const box = element.querySelector(".lab"), find = selector => box.querySelector(selector);
  const state = { kind: "cross", boards: {}, off: new Map(), held: [], change: null, view: "force", options: {}, answers: {}, text: "", way: "", id: null, run: 0, asked: 0, own: false, filled: "" };
  const key = (kind, layer, head) => `${kind}:${layer}:${head}`;
  const signed = (value, digits = 2) => (Math.abs(value) < .5 * 10 ** -digits ? (0).toFixed(digits) : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits));
  const plainNumber = value => (value < 0 ? "−" : "") + Math.abs(value).toFixed(2);
  const refuse = (where, text) => { const node = find(where); node.hidden = !text; node.textContent = text || ""; };

  /* ---- long runs: a row of short requests, which can be stopped between them ---- */
  const busy = (on, words = "", done = 0) => {
    find(".lab-run").hidden = on; find(".lab-stop").hidden = !on; find(".lab-again").disabled = on;
    find(".lab-progress").textContent = words;
    find(".lab-done").hidden = !on; find(".lab-done").value = done;
    box.setAttribute("aria-busy", String(on));
  };
  /** What the server computes at this moment, by the name it is asked by; who waits no longer has it stopped there. */
  const runs = {};
  const ask = async (name, request) => {
    const run = runs[name] = Math.random().toString(36).slice(2), { text, way } = state;
    try {
      const answer = await server[name]({ text, direction: way, id: state.id, run, ...request });
      if (answer.id && text === state.text && way === state.way) state.id = answer.id;
      return answer;
    } catch { return { error: t("No answer from the server. Please try again.") }; }
    finally { if (runs[name] === run) delete runs[name]; }
  };
  const leave = (...names) => { for (const name of names) if (runs[name]) server.lab_stop({ run: runs[name] }).catch(() => {}); };
  /** Nothing is known of the sentence any more, and what is still on its way is not waited for. */
  const clear = () => {
    state.asked++;
    leave("lab_board", "lab_switch", "lab_ask");
    waiting(false);
    if (state.options.force?.target === state.filled) delete state.options.force?.target;
    Object.assign(state, { boards: {}, off: new Map(), held: [], change: null, answers: {}, text: "", id: null });
    refuse(".lab-error", "");
  };
  /** `show` switches the head off that the translation needs most, so that the first look has something to see. */
  const start = async (show = false) => {
    const number = ++state.run;
    clear();
    Object.assign(state, { text: find("#lab-text").value, way: direction() });
    paint();
    const kinds = [state.kind, ...LAB_KINDS.filter(kind => kind !== state.kind)];
    for (const [done, kind] of kinds.entries()) {
      busy(true, t("Switching off heads one by one: {done} of {all} attentions", { done, all: 3 }), done);
      const answer = await ask("lab_board", { kind });
      if (number !== state.run) return;
      if (answer.error) { busy(false); return refuse(".lab-error", tMessage(answer.error)); }
      state.boards[kind] = answer;
      if (show && !done) switchOff([neediest(kind)]);
      paint();
      if (!done) { await again(); if (number !== state.run) return; }
    }
    busy(false);
    if (state.change && !state.options.force?.target) { (state.options.force ||= {}).target = state.filled = state.change.before.text; if (state.view === "force") paintViews(); }
    look();
  };
  const neediest = kind => {
    const { values } = state.boards[kind], least = Math.min(...values.flat()), layer = values.findIndex(row => row.includes(least));
    return key(kind, layer, values[layer].indexOf(least));
  };
  const stop = () => { state.run++; leave("lab_board", "lab_switch"); busy(false, t("Stopped.")); };
  const again = async () => {
    const number = state.run, gates = {};
    for (const kind of LAB_KINDS) {
      const board = state.boards[kind];
      if (board) gates[kind] = board.values.map((row, l) => row.map((_, h) => state.off.get(key(kind, l, h)) ?? 1));
    }
    const off = state.off.size, answer = await ask("lab_switch", { gates });
    if (number !== state.run) return;
    refuse(".lab-error", tMessage(answer.error || ""));
    if (!answer.error) state.change = { ...answer, off };
    paintChange();
  };

  /* ---- the switchboard ---- */
  /** `off` maps a head to its gate; the slider moves the gates of `held`, the heads that were touched last. */
  const switchOff = heads => { for (const each of heads) state.off.set(each, 0); state.held = heads; };
  const toggle = heads => {
    if (heads.every(each => state.off.has(each))) { for (const each of heads) state.off.delete(each); state.held = []; }
    else switchOff(heads);
    paintBoard();
  };
  const paintGate = () => {
    const names = state.held.map(id => id.split(":")).map(([, l, h]) => `L${+l + 1}H${+h + 1}`), slider = find(".lab-gate input");
    const heads = names.length > 3 ? `${names.slice(0, 2).join(", ")} … (${names.length})` : names.join(", ");
    find(".lab-gate span").textContent = heads ? t("Gate of {heads}", { heads }) : t("Gate of a head: switch it off first");
    slider.disabled = !heads;
    slider.value = heads ? state.off.get(state.held[0]) : 1;
    find(".lab-gate output").textContent = slider.valueAsNumber.toFixed(2);
  };
  const paintBoard = () => {
    const grid = find(".lab-grid"), board = state.boards[state.kind], focused = document.activeElement?.dataset?.head;
    find(".lab-kinds").replaceChildren(...LAB_KINDS.map(kind => el("button", { type: "button", "aria-pressed": String(kind === state.kind), text: t(kind[0].toUpperCase() + kind.slice(1)), on: { click: () => { state.kind = kind; paintBoard(); } } })));
    grid.replaceChildren();
    find(".lab-legend").replaceChildren();
    paintPresets(board);
    paintGate();
    if (!board) { grid.append(el("p", { class: "muted", text: box.getAttribute("aria-busy") === "true" ? t("Each head is being switched off alone …") : t("Press Run: each head is switched off alone.") })); return; }
    const { values, roles } = board, heads = values[0].length, limit = Math.max(.5, ...values.flat().map(Math.abs)), colours = lookup("difference", false);
    const name = (letter, i, members) => el("button", { type: "button", class: "lab-line", text: `${letter}${i + 1}`, "aria-label": t("Switch {name} on or off", { name: `${letter}${i + 1}` }), on: { click: () => toggle(members) } });
    grid.style.setProperty("--heads", heads);
    grid.append(el("span"), ...values[0].map((_, h) => name("H", h, values.map((_, l) => key(state.kind, l, h)))));
    values.forEach((row, l) => {
      grid.append(name("L", l, row.map((_, h) => key(state.kind, l, h))));
      row.forEach((value, h) => {
        const id = key(state.kind, l, h), off = state.off.has(id), colour = colours[Math.round(256 * clamp(.5 + value / limit / 2, 0, 1))];
        const cell = el("button", {
          type: "button", role: "switch", "aria-checked": String(!off), class: "lab-head" + (off ? " off" : ""), "data-head": id, title: t(roles[l][h]),
          "aria-label": t("Head L{layer}H{head}, {role}: {value} nats without it", { layer: l + 1, head: h + 1, role: t(roles[l][h]), value: signed(value) }),
          style: `background:${rgb(colour)};color:${inkOn(colour)}`, on: { click: () => toggle([id]), focus: () => { if (off) { state.held = [id]; paintGate(); } } },
        }, el("span", { text: signed(value) }));
        if (off) cell.append(el("em", { text: state.off.get(id) ? state.off.get(id).toFixed(2) : t("off") }));
        grid.append(cell);
        if (focused === id) cell.focus();
      });
    });
    const off = [...state.off.keys()].filter(id => id.startsWith(state.kind + ":")).length, bar = el("canvas", { width: 180, height: 6 });
    paintBar(bar, x => colours[Math.round(256 * x)]);
    find(".lab-legend").append(`${t("loses")} −${limit.toFixed(1)} `, bar, ` +${limit.toFixed(1)} ${t("gains")}`, el("span", { class: "push", text: t("{off} of {all} heads off", { off, all: values.length * heads }) }));
  };
  const arrows = event => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key], id = event.target.dataset?.head;
    if (!step || !id) return;
    const [kind, layer, head] = id.split(":"), next = find(`[data-head="${key(kind, +layer + step[0], +head + step[1])}"]`);
    if (next) { next.focus(); event.preventDefault(); }
  };
  const paintPresets = board => {
    const all = board ? board.values.flatMap((row, l) => row.map((_, h) => [l, h])) : [], set = heads => { state.off = new Map(); switchOff(heads); paintBoard(); };
    const cells = heads => heads.map(([l, h]) => key(state.kind, l, h)), last = board ? board.values.length : 1;
    const random = () => [...all].map(each => [Math.random(), each]).sort((a, b) => a[0] - b[0]).slice(0, 3).map(each => each[1]);
    const presets = [
      [t("All on"), () => set([])],
      [t("Aligning heads off"), () => set(cells(all.filter(([l, h]) => board.roles[l][h] === "aligns")))],
      [t("Only layer {layer}", { layer: last }), () => set(cells(all.filter(([l]) => l !== last - 1)))],
      [t("3 random heads off"), () => set(cells(random()))],
    ];
    find(".lab-presets").replaceChildren(el("span", { class: "cap", text: t("Presets") }), ...presets.map(([text, click]) => el("button", { type: "button", class: "btn", disabled: !board, text, on: { click } })));
  };

  /* ---- old and new, and the ribbons between them ---- */
  /** Which words of `b` are not in the longest common run of words with `a`. */
  const changed = (a, b) => {
    const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    const fresh = b.map(() => true);
    for (let i = 0, j = 0; i < a.length && j < b.length;) { if (a[i] === b[j]) { fresh[j] = false; i++; j++; } else if (table[i + 1][j] >= table[i][j + 1]) i++; else j++; }
    return fresh;
  };
  const paintChange = () => {
    const change = state.change, before = find(".before"), after = find(".after");
    before.replaceChildren(); after.replaceChildren(); find(".lab-ribbons").replaceChildren();
    if (!change) return;
    const title = headsOff(change.off), fresh = changed(change.before.words, change.after.words);
    const target = languagesOf(state.way)[1];
    const said = el("p", { lang: target });
    let at = 0;
    change.after.words.forEach((word, i) => {
      const found = change.after.text.indexOf(word, at);
      said.append(change.after.text.slice(at, Math.max(found, at)), fresh[i] ? el("u", { text: word }) : word);
      at = Math.max(found, at) + word.length;
    });
    before.append(el("h3", { text: t("All heads on") }), el("p", { lang: target, text: change.before.text }), el("p", { class: "cap" }, ...tParts("log p {score} nats", { score: plainNumber(change.before.score) })));
    after.append(el("h3", { text: title }), said, el("p", { class: "cap" }, ...tParts("log p {score}, of the first translation {first} (Δ {change})", { score: plainNumber(change.after.score), first: plainNumber(change.first), change: signed(change.change) })));
    find(".lab-ribbons").append(ribbons({ ...changePicture(), width: find(".lab-change").clientWidth }));
  };
  /** What the ribbons show: old words, source, new words, and the weights between them. */
  const changePicture = () => {
    const { before, source, after, off } = state.change, [from, to] = languagesOf(state.way), title = headsOff(off);
    return {
      rows: [{ name: t("All heads on"), words: before.words, lang: to }, { name: t("Source"), words: source, lang: from }, { name: title, words: after.words, lang: to, fresh: changed(before.words, after.words) }],
      bands: [before.links, source.map((_, j) => after.links.map(line => line[j]))],
      label: t("Word alignment of both translations"),
    };
  };

  /* ---- take it away ---- */
  const numbers = () => LAB_KINDS.filter(kind => state.boards[kind]).flatMap(kind => state.boards[kind].values.flatMap((row, l) => row.map((value, h) => ({ attention: kind, layer: l + 1, head: h + 1, role: state.boards[kind].roles[l][h], change: value, gate: state.off.get(key(kind, l, h)) ?? 1 }))));
  const files = {
    svg: () => drawing(ribbonsText(changePicture()), "svg"),
    png: () => drawing(ribbonsText(changePicture()), "png"),
    csv: () => new Blob(["\ufeff" + ["attention,layer,head,role,change of log p (nats),gate", ...numbers().map(each => Object.values(each).join(","))].join("\r\n") + "\r\n"], { type: "text/csv" }),
    json: () => new Blob([JSON.stringify({ source: state.text, direction: state.way, heads: numbers(), change: state.change })], { type: "application/json" }),
  };
  const save = async event => {
    const what = event.target.dataset.save;
    if (what && state.change) saveAs(`lab-${state.way.replace(/[^\w-]+/g, "-")}.${what}`, await files[what]());
  };

  /* ---- further questions ---- */
  const paintViews = () => {
    const [name, , says, source, fields] = LAB_VIEWS.find(each => each[0] === state.view), own = (state.options[name] ||= {});
    find(".lab-views").replaceChildren(...LAB_VIEWS.map(each => el("button", { type: "button", role: "tab", "aria-selected": String(each[0] === name), "data-view": each[0], text: t(each[1]), on: { click: () => { state.view = each[0]; paintViews(); look(); } } })));
    find(".lab-view .lab-says").replaceChildren(t(says) + " ", el("span", { class: "muted", text: source }));
    const controls = fields.map(([field, label, type, first]) => {
      if (!(field in own)) own[field] = first;
      const set = value => { own[field] = value; };
      let input;
      if (Array.isArray(type)) {
        input = el("select", { "aria-label": t(label), on: { change: event => { set(event.target.value); look(true); } } }, ...type.map(value => el("option", { value, selected: value === own[field], text: t(value) })));
      } else {
        const [shape, low, high, step] = type.split(":");
        const shown = shape === "range" ? el("output", { text: String(own[field]) }) : null;
        input = el("input", { type: shape, min: low ?? (shape === "number" ? 1 : null), max: high ?? null, step: step ?? null, value: own[field] ?? "", "aria-label": t(label), translate: "no", on: { input: event => { set(shape === "text" ? event.target.value : event.target.value === "" ? null : event.target.valueAsNumber); if (shown) shown.textContent = event.target.value; }, change: () => { if (shape !== "text") look(true); } } });
        if (shown) return el("label", { class: "cap" }, el("span", { text: t(label) }), input, shown);
      }
      return el("label", { class: "cap" + (type === "text" ? " wide" : "") }, el("span", { text: t(label) }), input);
    });
    find(".lab-options").replaceChildren(...controls, el("button", { type: "submit", class: "btn lab-ask-view", text: t("Ask") }), el("button", { type: "button", class: "btn lab-stop-view", hidden: true, text: t("Stop"), on: { click: () => { state.asked++; leave("lab_ask"); waiting(false); } } }), el("span", { class: "cap lab-wait", role: "status" }));
    find(".lab-view").dataset.view = name;
    paintAnswer();
  };
  /** The seconds are counted while the model works; who stops waits no longer. */
  const waiting = on => {
    const began = Date.now(), say = () => { find(".lab-wait").textContent = on ? t("The model is at work: {seconds} s", { seconds: Math.round((Date.now() - began) / 1000) }) : ""; };
    clearInterval(waiting.timer);
    find(".lab-view").setAttribute("aria-busy", String(on));
    find(".lab-stop-view").hidden = !on;
    if (on) waiting.timer = setInterval(say, 500); else say();
  };
  const look = async (anew = false) => {
    const name = state.view, number = ++state.asked, own = state.options[name];
    leave("lab_ask");
    if (!state.text || (name === "force" && !anew && !(own.target || "").trim())) return waiting(false);
    if (!anew && state.answers[name]) { waiting(false); return paintAnswer(); }
    waiting(true);
    const answer = await ask("lab_ask", { view: name, options: own });
    if (number !== state.asked) return;
    waiting(false);
    state.answers[name] = answer;
    let filled = false;
    for (const [field, value] of Object.entries(answer.chosen || {})) if (own[field] === null) { own[field] = value; filled = true; }
    if (filled) paintViews(); else paintAnswer();
  };
  /** A refusal with a field called as it stands beside it, not as the server knows it. */
  const named = text => {
    const field = LAB_VIEWS.find(([name]) => name === state.view)[4].find(([name]) => text.startsWith(name + " "));
    return field ? `“${t(field[1])}”${text.slice(field[0].length)}` : text;
  };
  const paintAnswer = () => {
    const answer = state.answers[state.view] || {}, lines = find(".lab-lines"), figures = find(".lab-figures"), table = find(".lab-table");
    refuse(".lab-view-error", tMessage(named(answer.error || "")));
    lines.replaceChildren(...(answer.lines || []).map(([words, values]) => el("p", {}, ...tParts(words, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, name === "method" ? t(value) : String(value)]))))));
    figures.replaceChildren();
    find(".lab-answer").classList.toggle("pictured", !!(answer.figures || []).length || !!answer.ribbons);
    if (answer.ribbons) figures.append(alignment(answer.ribbons, figures.clientWidth));
    for (const [n, figure] of (answer.figures || []).entries()) {
      const holder = el("figure", {}, ...(answer.captions ? [el("figcaption", { class: "cap", text: t(answer.captions[n]) })] : []), el("div", { class: "plot-view" }, el("div", { class: "plot" }), el("output", { "aria-live": "polite" })));
      figures.append(holder);
      mountPlot(holder, { value: figure }, () => {});
      const chosen = point => (answer.picks ? { choice: answer.picks[point.y] } : { query: point.y + 1, key: point.x + 1 });
      const choose = ({ points: [point] }) => { if (answer.picks && !answer.picks[point.y]) return; Object.assign(state.options[state.view], chosen(point)); paintViews(); look(true); };
      if ((answer.cells || answer.picks) && !n) whenPlotly(() => holder.querySelector(".plot").on?.("plotly_click", choose));
    }
    table.replaceChildren();
    if (answer.table) table.append(el("table", {}, el("thead", {}, el("tr", {}, ...answer.table.head.map(text => el("th", { scope: "col", text: t(text) })))), el("tbody", {}, ...answer.table.rows.map(row => el("tr", {}, ...row.map((text, i) => el("td", { text: ["role", "fate"].includes(answer.table.head[i]) ? t(text) : text })))))));
    table.tabIndex = table.scrollHeight > table.clientHeight || table.scrollWidth > table.clientWidth ? 0 : -1;  // what scrolls can be scrolled by keys
  };

  /** A link keeps its weight as width and colour; a link of one's own that was not found is dashed. */
  const alignment = ({ source, target, words, links, gold }, width) => {
    const [from, to] = languagesOf(state.way), found = new Set(links.map(String));
    return el("div", { class: "lab-ribbons", translate: "no" }, ribbons({
      rows: [{ name: t("Source"), words: source, lang: from }, { name: t("Translation"), words: target, lang: to }],
      bands: [source.map((_, s) => target.map((_, g) => (found.has(`${s},${g}`) ? Math.max(words[g][s], .1) : 0)))],
      missed: gold.filter(pair => !found.has(String(pair))), width, label: t("Alignment"),
    }));
  };

  /* ---- words, and what starts what ---- */
  const paint = () => {
    find(".lab-ask label").textContent = t("Sentence to translate");
    find(".lab-run").textContent = t("Run");
    find(".lab-stop").textContent = t("Stop");
    find(".lab-board h2").textContent = t("Head switchboard");
    find(".lab-board .lab-says").replaceChildren(t("Each number is the change of log p of the first translation, in nats, when that head alone is silent. It does not say what the model would have learned without the head, nor what two heads do together.") + " ", el("span", { class: "muted", text: "Voita et al. 2019; Michel et al. 2019" }));
    find(".lab-change h2").textContent = t("What changes");
    find(".lab-again").textContent = t("Translate again");
    find(".lab-note").textContent = t("Ribbon width and colour: word alignment weight, mean of the aligning heads that are on. Underlined: words that changed.");
    find(".lab-export span").textContent = t("Export");
    paintBoard(); paintChange(); paintViews();
  };
  find(".lab-ask").addEventListener("submit", event => { event.preventDefault(); start(); });
  find(".lab-stop").addEventListener("click", stop);
  find(".lab-export").addEventListener("click", save);
  find("#lab-text").addEventListener("input", event => { state.own = !!event.target.value.trim(); });
  find(".lab-again").addEventListener("click", () => { if (Object.keys(state.boards).length) again(); });
  find(".lab-grid").addEventListener("keydown", arrows);
  find(".lab-gate input").addEventListener("input", event => { for (const id of state.held) state.off.set(id, event.target.valueAsNumber); paintBoard(); });
  find(".lab-options").addEventListener("submit", event => { event.preventDefault(); look(true); });

  /** Opened, the lab runs by itself on the page's sentence, once for each, unless one was typed here. */
  const opened = () => {
    const example = (window.__explorerData?.examples || []).find(each => each.direction === direction());
    const text = (field("source-text")?.value || "").trim() || (example ? example.text : "");
    if (state.own || !text || (text === state.text && direction() === state.way)) return;
    find("#lab-text").value = text;
    start(true);
  };
  document.addEventListener("change", event => {
    if (!event.target.closest("#direction")) return;
    stop();
    clear();
    state.options = {};
    find(".lab-progress").textContent = "";
    paint();
    setTimeout(() => { if (box.clientWidth) opened(); }, 400);  // until the page has its example of this direction
  });
  addEventListener("explorer-language", paint);
  addEventListener("explorer-theme", () => { paintBoard(); paintChange(); });
  let width = 0;
  new ResizeObserver(() => {
    const before = width;
    width = box.clientWidth;
    if (width && !before) pageSettled.then(() => { if (width) opened(); });
    if (width && width !== before) { paintChange(); paintAnswer(); }
  }).observe(box);
  paint();
};
Object.assign(window.AttentionExplorer, { lab: mountLab });
