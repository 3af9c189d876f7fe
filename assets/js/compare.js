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
    this.state = { kind: "cross", layer: 0, head: 0, unit: "sub" };
    for (const name of ["kind", "unit"]) this.root.querySelectorAll(`button[data-${name}]`).forEach(button => button.addEventListener("click", () => this.set({ [name]: button.dataset[name] })));
    for (const name of ["layer", "head"]) this.find(`select.${name}`).addEventListener("change", event => this.set({ [name]: +event.target.value }));
    for (const side of ["a", "b"]) {
      const box = this.find(`[data-side=${side}] .map`);
      box.addEventListener("mousemove", event => this.point(side, event));
      box.addEventListener("mouseleave", () => this.point(null));
    }
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
    Object.assign(this.state, bestHead(this.a));
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
  }

  side(side) {
    const trace = this[side], other = this[side === "a" ? "b" : "a"], box = this.find(`[data-side=${side}]`), texts = other.words.tgt.s;
    box.querySelector(".said").lang = LANGUAGES[trace.checkpoint.tgt] || "";
    box.querySelector(".said").replaceChildren(side.toUpperCase() + ": ", ...marked(trace, texts));
    const score = trace.steps.reduce((sum, step) => sum + step.lp, 0);
    box.querySelector(".facts").textContent = `${trace.checkpoint.name} · ${settingsText(trace.settings)} · log p ${score.toFixed(2)} · ${t("{n} tokens", { n: trace.tgt.length })}`;
    this.map(box.querySelector(".map"), this.pictures[side], "house");
  }

  /** A heat map like the explorer's; `palette` "difference" runs from -1 to 1. */
  map(box, picture, palette) {
    const { kind } = this.state, small = phone(), width = Math.floor(box.clientWidth) - 2;
    const size = measureMap(width, 420, picture.rows.length, picture.columns.length, { labels: small ? 72 : kind === "encoder" ? 96 : 160, top: 84, small });
    size.columns = picture.columns.length;
    size.rows = picture.rows.length;
    const view = { size, scale: "linear", palette, labels: small ? "predicts" : "both", small, touch: true, range: { x: [-.5, size.columns - .5], y: [size.rows - .5, -.5] }, width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right), height: Math.ceil(size.top + size.cellHeight * size.rows + 4) };
    const figure = heatFigure(picture, kind, view);
    if (palette === "difference") figure.data[0].zmin = -1;
    if (!box.firstChild) box.append(el("div"));
    Plotly.react(box.firstChild, figure.data, figure.layout, PLOT_CONFIG);
  }

  difference(slicing, layers, heads) {
    const { a, b } = this.pictures, why = this.find(".why"), box = this.find(".map.difference"), bar = this.find(".difference-scale");
    const fits = a.rows.length === b.rows.length && a.columns.length === b.columns.length;
    box.hidden = bar.parentElement.hidden = !fits;
    why.textContent = fits
      ? t("Row and column names are A's; where B's differ, they follow a slash.")
      : t("A is {a} and B is {b}: maps of different shapes have no difference. Words instead of subwords may agree.", { a: `${a.rows.length} × ${a.columns.length}`, b: `${b.rows.length} × ${b.columns.length}` });
    if (fits) {
      const join = (one, two) => (one === two ? one : `${one} / ${two}`);
      const both = (one, two) => one.map((group, i) => ({ ...group, text: join(group.text, two[i].text), reads: join(group.reads, two[i].reads), predicts: join(group.predicts, two[i].predicts) }));
      this.map(box, { ...a, rows: both(a.rows, b.rows), columns: both(a.columns, b.columns), z: a.z.map((row, i) => row.map((weight, j) => b.z[i][j] - weight)) }, "difference");
      paintBar(bar, at => ramp(stops("difference"), at));
    }
    this.board(slicing, layers, heads, fits);
  }

  board(slicing, layers, heads, fits) {
    const box = this.find(".board"), { kind, layer, head } = this.state, points = stops("house");
    box.style.gridTemplateColumns = `24px repeat(${heads}, minmax(0, 1fr))`;
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

  /** The cell under the pointer, in both sentences. */
  point(side, event) {
    const out = this.find(".readout");
    if (!side || !this.pictures) return out.replaceChildren();
    const plot = event.currentTarget.firstChild, layout = plot && plot._fullLayout;
    if (!layout) return;
    const rect = plot.getBoundingClientRect(), j = Math.round(layout.xaxis.p2l(event.clientX - rect.left - layout.xaxis._offset)), i = Math.round(layout.yaxis.p2l(event.clientY - rect.top - layout.yaxis._offset));
    const text = name => {
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
  const load = async (a, b) => {
    try {
      const pair = await Promise.all([a, b].map(async id => { const answer = await fetch(data.address + id + ".json"); if (!answer.ok) throw new Error(id); return answer.json(); }));
      setField(field("compare-a"), pair[0].source);
      setField(field("compare-b"), pair[1].source);
      for (const [i, side] of ["a", "b"].entries()) { const radio = document.querySelector(`#compare-direction-${side} input[value="${pair[i].checkpoint.src}-${pair[i].checkpoint.tgt}"]`); if (radio && !radio.checked) radio.click(); }
      view.notice("");
      view.show(...pair);
    } catch { view.notice(t("This example has not been stored.")); }
  };
  const pairs = () => view.find(".pairs").replaceChildren(...PAIRS.map(([a, b, name]) => el("button", { type: "button", class: "btn", text: t(name), on: { click: () => load(a, b) } })));
  addEventListener("explorer-language", pairs);
  pairs();
  let last = null;
  watch("value", () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    const message = JSON.parse(props.value);
    if (message.error) return view.notice(tMessage(message.error));
    view.notice("");
    view.show(message.a, message.b);
  });
  load(...PAIRS[0]);
};
