/* Two translations side by side, at the same head, and the difference where their shapes agree. */

const PAIRS = [["de-en-in-den", "de-en-in-dem", "in den Park / in dem Park"], ["en-zh-tired", "en-zh-wide", "too tired / too wide"]];

/** Half the summed distance of each row (total variation), averaged over the rows: 0 alike, 1 apart. */
const headDistance = (a, b, kind, layer, head, slicing) => {
  const one = slice(a, kind, a.head(kind, layer, head), slicing), other = slice(b, kind, b.head(kind, layer, head), slicing);
  if (one.rows.length !== other.rows.length || one.columns.length !== other.columns.length) return null;
  return one.z.reduce((sum, row, i) => sum + row.reduce((s, weight, j) => s + Math.abs(weight - other.z[i][j]), 0) / 2, 0) / one.rows.length;
};

class Comparison {
  constructor(element) {
    this.root = element.querySelector(".cx");
    this.state = { kind: "cross", layer: 0, head: 0, unit: "sub", step: 0 };
    for (const name of ["kind", "unit"]) this.root.querySelectorAll(`button[data-${name}]`).forEach(button => button.addEventListener("click", () => this.set({ [name]: button.dataset[name] })));
    for (const name of ["layer", "head"]) this.find(`select.${name}`).addEventListener("change", event => this.set({ [name]: +event.target.value }));
    for (const side of ["a", "b"]) {
      const box = this.find(`[data-side=${side}] .map`);
      box.addEventListener("mousemove", event => this.point(side, event));
      box.addEventListener("mouseleave", () => this.point(null));
      box.addEventListener("click", event => { const cell = this.cell(side, event); if (cell) this.go(cell.row.ids[0]); });
    }
    const slider = this.find("#compare-step");
    slider.addEventListener("input", () => this.go(slider.value - 1));
    this.root.querySelectorAll("[data-move]").forEach(button => button.addEventListener("click", () => this.go(this.state.step + +button.dataset.move)));
    this.root.querySelectorAll("[data-export]").forEach(button => button.addEventListener("click", () => this.save(button.dataset.export)));
    const again = () => this.draw();
    for (const event of ["explorer-theme", "explorer-plotly"]) addEventListener(event, again);
    addEventListener("explorer-language", () => { this.speak(); this.draw(); });
    new ResizeObserver(again).observe(this.root);
    this.speak();
  }
  find(selector) { return this.root.querySelector(selector); }
  speak() {
    this.root.querySelectorAll("[data-t]").forEach(node => { node.textContent = t(node.dataset.t); });
    this.root.querySelectorAll("[data-aria]").forEach(node => node.setAttribute("aria-label", t(node.dataset.aria)));
  }
  set(patch) { Object.assign(this.state, patch); this.draw(); }
  show(a, b) {
    this.a = new Translation(a);
    this.b = new Translation(b);
    Object.assign(this.state, this.a.leading, { step: Math.min(3, this.a.tgt.length - 1) });
    this.find(".both").hidden = false;
    whenPlotly(() => this.draw());
  }
  notice(text) { const node = this.find(".notice"); node.hidden = !text; node.textContent = text || ""; node.classList.toggle("error", !!text); }

  draw() {
    if (!this.a || !window.Plotly || !this.root.clientWidth) return;
    const shared = kind => ({ layers: Math.min(this.a.maps[kind].layers, this.b.maps[kind].layers), heads: Math.min(this.a.maps[kind].heads, this.b.maps[kind].heads) });
    const { kind, unit } = this.state, { layers, heads } = shared(kind);
    this.state.layer = Math.min(this.state.layer, layers - 1);
    this.state.head = Math.min(this.state.head, heads - 1);
    for (const name of ["kind", "unit"]) this.root.querySelectorAll(`button[data-${name}]`).forEach(button => button.setAttribute("aria-pressed", String(button.dataset[name] === this.state[name])));
    for (const [name, count] of [["layer", layers], ["head", heads]]) {
      const select = this.find(`select.${name}`);
      select.replaceChildren(...Array.from({ length: count }, (_, i) => el("option", { value: i, text: String(i + 1) })));
      select.value = this.state[name];
    }
    const { layer, head } = this.state, slicing = { unit, specials: "shown" };
    this.pictures = Object.fromEntries(["a", "b"].map(side => [side, slice(this[side], kind, this[side].head(kind, layer, head), slicing)]));
    const table = lookup("house", false);
    paintBar(this.find(".controls canvas"), at => table[Math.round(256 * at)]);
    for (const side of ["a", "b"]) this.side(side);
    this.difference(slicing, layers, heads);
    this.go(this.state.step);
  }

  /** The same step (of the encoder: the same query) on both sides; the shorter side stays at its last. */
  go(step) {
    const { kind } = this.state, last = side => this[side].maps[kind].rows - 1, total = Math.max(last("a"), last("b")) + 1, slider = this.find("#compare-step");
    this.state.step = clamp(step, 0, total - 1);
    slider.max = total;
    slider.value = this.state.step + 1;
    slider.style.setProperty("--fill", (total > 1 ? (100 * this.state.step) / (total - 1) : 100) + "%");
    this.find(".where").textContent = slider.ariaValueText = t(kind === "encoder" ? "Query {n} of {total}" : "Step {n} of {total}", { n: this.state.step + 1, total });
    const rows = {};
    for (const side of ["a", "b"]) {
      const picture = this.pictures[side], at = Math.min(this.state.step, last(side)), row = (rows[side] = picture.rows.findIndex(group => group.ids.includes(at)));
      const best = strongest(picture, row, 1)[0], group = picture.rows[row], values = { key: best ? best.text : "", weight: best ? two(best.weight) : "" };
      this.find(`[data-side=${side}] .now`).replaceChildren(...(kind === "encoder" ? tParts("{reads} looks at {key} {weight}", { ...values, reads: group.text })
        : [...tParts("reads {reads}, predicts {predicts}, looks at {key} {weight}", { ...values, reads: this[side].reads[at].s, predicts: this[side].tgt[at].s }), ` · p = ${two(Math.exp(this[side].steps[at].lp))}`]));
      this.frame(this.find(`[data-side=${side}] .map`), row);
    }
    if (!this.find(".map.difference").hidden) this.frame(this.find(".map.difference"), rows.a);
  }
  /** An orange frame round a row: you are here. */
  frame(box, row) {
    const layout = box.firstChild && box.firstChild._fullLayout;
    if (!layout || row < 0) return;
    if (!box.lastChild.matches(".row-frame")) box.append(el("div", { class: "row-frame", "aria-hidden": "true" }));
    const { xaxis, yaxis } = layout, top = yaxis._offset + yaxis.l2p(row - .5), bottom = yaxis._offset + yaxis.l2p(row + .5);
    Object.assign(box.lastChild.style, { left: xaxis._offset - 2 + "px", width: xaxis._length + 4 + "px", top: top - 2 + "px", height: bottom - top + 4 + "px" });
  }

  /** A, B and their difference as one picture, on the light scale. */
  async save(format) {
    const parts = [["a", "house"], ["b", "house"], ...(this.joined ? [["joined", "difference"]] : [])], inner = [];
    let left = 0, tallest = 0;
    for (const [name, palette] of parts) {
      const { figure, view } = this.figure(name === "joined" ? this.joined : this.pictures[name], palette, 640, "light");
      const address = await Plotly.toImage({ data: figure.data, layout: figure.layout, config: PLOT_CONFIG }, { format: "svg", width: view.width, height: view.height });
      const node = new DOMParser().parseFromString(decodeURIComponent(address.slice(address.indexOf(",") + 1)), "image/svg+xml").documentElement;
      node.setAttribute("x", left);
      node.setAttribute("y", 40);
      inner.push([node, left, name === "joined" ? t("Difference, B − A") : `${name.toUpperCase()}: ${cut(this[name].translation, 48)}`]);
      left += view.width + 32;
      tallest = Math.max(tallest, view.height);
    }
    const page = paper(left, tallest + 56), { kind, layer, head } = this.state;
    for (const [node, x, title] of inner) { page.write(title, x + 12, 26, { "font-size": 15, "font-weight": 600 }); page.root.append(document.importNode(node, true)); }
    saveAs(`compare-${kind}-L${layer + 1}H${head + 1}.${format}`, await drawing(page.text(), format));
  }

  side(side) {
    const trace = this[side], other = this[side === "a" ? "b" : "a"], box = this.find(`[data-side=${side}]`), texts = other.words.tgt.s;
    box.querySelector(".said").lang = LANGUAGES[trace.checkpoint.tgt] || "";
    box.querySelector(".said").replaceChildren(side.toUpperCase() + ": ", ...marked(trace, texts));
    const score = trace.steps.reduce((sum, step) => sum + step.lp, 0);
    box.querySelector(".facts").textContent = `${trace.checkpoint.name} · ${settingsText(trace.settings)} · log p ${score.toFixed(2).replace("-", "−")} · ${t("{n} tokens", { n: trace.tgt.length })}`;
    this.map(box.querySelector(".map"), this.pictures[side], "house");
  }

  /** A heat map like the explorer's; `palette` "difference" runs from -1 to 1. */
  map(box, picture, palette) {
    const { figure } = this.figure(picture, palette, Math.floor(box.clientWidth) - 2);
    if (!box.firstChild) box.append(el("div"));
    Plotly.react(box.firstChild, figure.data, figure.layout, PLOT_CONFIG);
  }
  figure(picture, palette, width, theme) {
    const { kind } = this.state, small = phone();
    const size = measureMap(width, 420, picture, { labels: small ? 72 : kind === "encoder" ? 96 : 160, top: 84, small });
    size.columns = picture.columns.length;
    size.rows = picture.rows.length;
    const view = { size, theme, scale: "linear", palette, labels: small ? "predicts" : "both", small, touch: true, range: { x: [-.5, size.columns - .5], y: [size.rows - .5, -.5] }, width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right), height: Math.ceil(size.top + size.cellHeight * size.rows + 4) };
    const figure = heatFigure(picture, kind, view);
    if (palette === "difference") figure.data[0].zmin = -1;
    return { figure, view };
  }

  difference(slicing, layers, heads) {
    const { a, b } = this.pictures, why = this.find(".why"), box = this.find(".map.difference"), bar = this.find(".difference-scale");
    const fits = a.rows.length === b.rows.length && a.columns.length === b.columns.length;
    box.hidden = bar.parentElement.hidden = !fits;
    why.textContent = fits
      ? t("Row and column names are A's; where B's differ, they follow a slash.")
      : t("A is {a} and B is {b}: maps of different shapes have no difference. Words instead of subwords may agree.", { a: `${a.rows.length} × ${a.columns.length}`, b: `${b.rows.length} × ${b.columns.length}` });
    this.joined = null;
    if (fits) {
      const join = (one, two) => (one === two ? one : `${one} / ${two}`);
      const both = (one, two) => one.map((group, i) => ({ ...group, text: join(group.text, two[i].text), reads: join(group.reads, two[i].reads), predicts: join(group.predicts, two[i].predicts) }));
      this.joined = { ...a, rows: both(a.rows, b.rows), columns: both(a.columns, b.columns), z: a.z.map((row, i) => row.map((weight, j) => b.z[i][j] - weight)) };
      this.map(box, this.joined, "difference");
      paintBar(bar, at => ramp(stops("difference"), at));
    }
    this.board(slicing, layers, heads, fits);
  }

  board(slicing, layers, heads, fits) {
    const box = this.find(".board"), { kind, layer, head } = this.state, points = stops("house");
    box.style.gridTemplateColumns = `24px repeat(${heads}, minmax(0, 1fr))`;
    box.parentElement.hidden = !fits;
    if (!fits) return box.replaceChildren();
    const nodes = [el("span"), ...Array.from({ length: heads }, (_, h) => el("span", { class: "cap", text: "H" + (h + 1) }))];
    for (let l = 0; l < layers; l++) {
      nodes.push(el("span", { class: "cap", text: "L" + (l + 1) }));
      for (let h = 0; h < heads; h++) {
        const distance = headDistance(this.a, this.b, kind, l, h, slicing), colour = ramp(points, distance);
        const node = el("button", { type: "button", "aria-pressed": l === layer && h === head, "aria-label": `L${l + 1} H${h + 1}: ${distance.toFixed(2)}`, text: distance.toFixed(2), on: { click: () => this.set({ layer: l, head: h }) } });
        node.style.background = rgb(colour);
        node.style.color = inkOn(colour);
        nodes.push(node);
      }
    }
    box.replaceChildren(...nodes);
  }

  /** Which cell of a side's map an event points at. */
  cell(side, event) {
    const plot = this.find(`[data-side=${side}] .map`).firstChild, layout = plot && plot._fullLayout;
    if (!layout || !this.pictures) return null;
    const rect = plot.getBoundingClientRect(), j = Math.round(layout.xaxis.p2l(event.clientX - rect.left - layout.xaxis._offset)), i = Math.round(layout.yaxis.p2l(event.clientY - rect.top - layout.yaxis._offset));
    const row = this.pictures[side].rows[i];
    return row && this.pictures[side].columns[j] ? { i, j, row } : null;
  }

  /** The cell under the pointer, in both sentences. */
  point(side, event) {
    const out = this.find(".readout"), cell = side && this.cell(side, event);
    if (!cell) return out.replaceChildren();
    const { i, j } = cell, text = name => {
      const { rows, columns, z } = this.pictures[name];
      return rows[i] && columns[j] ? `${name.toUpperCase()}: ${this.state.kind === "encoder" ? rows[i].text : rows[i].predicts} ← ${columns[j].text} ${z[i][j].toFixed(4)}` : "";
    };
    out.textContent = [text("a"), text("b")].filter(Boolean).join("   ·   ");
  }
}

/** A translation with the words underlined that the other one lacks. */
const marked = (trace, others) => {
  const spare = [...others];
  return trace.words.tgt.s.flatMap((word, g) => {
    const first = trace.tgt[trace.words.tgt.g.indexOf(g)], at = spare.indexOf(word);
    if (first.f & SPECIAL) return [];
    if (at >= 0) spare.splice(at, 1);
    return [first.f & SPACE ? " " : "", at >= 0 ? word : el("mark", { text: word })];
  });
};

const mountCompare = (element, props, watch) => {
  const view = new Comparison(element), data = window.__explorerData || { examples: [] };
  let loads = 0, chosen = -1;
  const typed = {};  // the load under way as a visitor wrote into a side: what comes of it after that leaves the side alone
  document.addEventListener("click", event => { if (event.isTrusted && event.target.closest("#compare-ask .segments")) chosen = loads; });
  document.addEventListener("input", event => { for (const side of ["a", "b"]) if (event.isTrusted && event.target.closest(`#compare-${side}`)) typed[side] = loads; });
  const load = async (a, b) => {
    const number = ++loads;
    try {
      const pair = await Promise.all([a, b].map(async id => { const answer = await fetch(data.address + id + ".json"); if (!answer.ok) throw new Error(id); return answer.json(); }));
      if (number !== loads) return;
      const free = [["a", pair[0]], ["b", pair[1]]].filter(([side]) => typed[side] !== number);
      for (const [side, { source }] of free) setField(field(`compare-${side}`), source);
      view.notice("");
      view.show(...pair);
      // Where a tab is being built, Gradio may put back the direction that the radios began with: WebKit's order of events.
      for (let stays = 0, tries = 0; stays < 5 && tries < 40 && number === loads && number !== chosen; tries++) {
        const meant = free.map(([side, { checkpoint }]) => document.querySelector(`#compare-direction-${side} input[value="${checkpoint.src}-${checkpoint.tgt}"]`)).filter(radio => radio && !radio.checked);
        for (const radio of meant) radio.click();
        stays = meant.length ? 0 : stays + 1;
        await new Promise(done => setTimeout(done, 50));
      }
    } catch { if (number === loads) view.notice(t("This example has not been stored.")); }
  };
  const pairs = () => view.find(".pairs").replaceChildren(...PAIRS.map(([a, b, name]) => el("button", { type: "button", class: "btn", text: t(name), on: { click: () => load(a, b) } })));
  addEventListener("explorer-language", pairs);
  pairs();
  let last = null;
  watch("value", async () => {
    if (!props.value || props.value === last) return;
    const value = last = props.value;
    const unread = () => ({ error: t("The answer could not be read. Please try again.") });
    const message = await Promise.resolve(messageOf(value)).catch(unread);
    if (value !== last) return;
    loads++;  // what was asked for before must not come after
    if (message.error) return view.notice([message.side && t(`Sentence ${message.side.toUpperCase()}`), tMessage(message.error)].filter(Boolean).join(": "));
    view.notice("");
    view.show(message.a, message.b);
  });
  load(...PAIRS[0]);
};
