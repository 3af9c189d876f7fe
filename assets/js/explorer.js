/* The explorer itself: one state, one frame of painting for any number of changes, messages from the server. */

const FIRST_STATE = {
  kind: "cross", layer: 0, head: 0, step: 0, query: 1, view: "heatmap", unit: "sub", scale: "linear", palette: "house", specials: "shown", renormalise: false,
  labels: "both", tile: "map", sort: "layer", role: null, aggregate: "layer-mean", overlay: [], pins: { rows: [], columns: [] }, only: false,
  hover: null, peek: null, playing: false,
};
const MAP_KEYS = ["trace", "kind", "layer", "head", "view", "aggregate", "overlay"];
const COLOUR_KEYS = ["scale", "palette", "theme"];

class Explorer {
  constructor(element, server = null) {
    this.root = element.querySelector(".ax");
    this.server = server;
    this.state = structuredClone(FIRST_STATE);
    this.trace = null;
    this.version = 0;
    this.changed = new Set();
    this.frame = 0;
    this.memory = {};
    this.readout = makeReadout(this);
    this.steps = makeSteps(this);
    this.mosaic = makeMosaic(this);
    this.detail = makeDetail(this);
    this.arcs = makeArcs(this);
    this.parts = [makeChips(this), this.steps, this.mosaic, makeHeadline(this), makeMore(this), this.detail, this.arcs, makeSide(this), this.readout];
    this.health = makeHealth(this);
    this.exports = makeExports(this);
    this.speak();
    const sizes = new ResizeObserver(() => this.resized());
    for (const node of [this.root, this.find(".under")]) sizes.observe(node);
    addEventListener("explorer-theme", () => this.set({ theme: dark() }));
    addEventListener("explorer-language", () => { this.speak(); this.set({ language: pageLanguage() }); });
    addEventListener("explorer-plotly", () => this.set({ size: {} }));
    addEventListener("resize", () => this.resized());
  }
  find(selector) { return this.root.querySelector(selector); }
  say(nodes) { this.readout.say(nodes); }

  onKey(listener) { document.addEventListener("keydown", event => { if (this.root.offsetParent && !event.defaultPrevented) listener(event); }); }
  segment(attribute, patch) {
    this.root.querySelectorAll(`button[${attribute}]`).forEach(button => button.addEventListener("click", () => this.set(patch(button.getAttribute(attribute)))));
  }
  resized() {
    const size = [this.root.clientWidth, this.find(".under").offsetHeight, innerHeight, phone()].join();
    if (size !== this.lastSize && this.root.clientWidth) { this.lastSize = size; this.set({ size }); }
  }

  /** The height that is left for a picture, so that the whole chain fits one screen. */
  room(node) { return Math.max(300, innerHeight - node.getBoundingClientRect().top - scrollY - 108); }

  /** Width and room of both pictures, measured once a frame, since each look after a change lays the page out anew. */
  places() {
    return this.once("places", () => {
      const detail = this.find("#attention-detail"), mosaic = this.find("#attention-mosaic");
      return { mosaic: { width: mosaic.querySelector("canvas").clientWidth, room: this.room(mosaic) }, detail: { width: detail.clientWidth, room: this.room(detail) } };
    });
  }
  moved() { delete this.memory.places; }

  /* ---- changes ---- */
  set(patch) {
    if (this.trace && this.trace.live) patch = this.later(patch);
    const known = this.trace && this.trace.maps[patch.kind || this.state.kind];
    if (known) for (const [name, count] of [["layer", known.layers], ["head", known.heads]]) {  // encoder and decoder may differ in both
      const value = name in patch ? patch[name] : this.state[name];
      if (value >= count) patch = { ...patch, [name]: count - 1 };
    }
    Object.assign(this.state, patch);
    for (const name of Object.keys(patch)) this.changed.add(name);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }
  /** While a translation is written there are cross rows alone: what else is asked for is kept until it is whole. */
  later({ kind, ...patch }) {
    const wish = this.beforeLive;
    if (kind) wish.kind = kind;
    for (const name of ["layer", "head", "view"]) if (name in patch) wish[name] = patch[name];
    wish.picked ||= "layer" in patch || "head" in patch;
    return { ...patch, ...(patch.view === "aggregate" ? { view: this.state.view } : {}) };
  }
  paint() {
    this.frame = 0;
    const changed = this.changed;
    this.changed = new Set();
    if (!this.trace || !this.root.clientWidth) return;
    if (MAP_KEYS.some(name => changed.has(name))) changed.add("map");
    if (COLOUR_KEYS.some(name => changed.has(name))) changed.add("colours");
    if (changed.has("trace")) changed.add("colours");
    this.memory = {};
    for (const part of this.parts) if (part.needs.some(name => changed.has(name))) (part === this.detail && this.trace.live ? this.soon(changed) : part.paint(changed));
    if (changed.has("trace") || changed.has("language")) this.exports.paint();
  }

  /** While tokens come the large map waits for them to be painted: it takes longer than all the rest. */
  soon(changed) {
    if (this.behind) return changed.forEach(name => this.behind.add(name));
    this.behind = changed;
    setTimeout(() => {
      const missed = this.behind;
      this.behind = null;
      if (this.trace.live) { this.memory = {}; this.detail.paint(missed); }
    }, 50);
  }

  /** This explorer as it would be with another kind of attention chosen. */
  as(kind) { return Object.assign(Object.create(this), { state: { ...this.state, kind, overlay: [] }, memory: {} }); }

  /* ---- what the views share, worked out once a frame ---- */
  once(name, make) { return (this.memory[name] ??= make()); }
  slicing() { return { unit: this.trace.words ? this.state.unit : "sub", specials: this.state.specials }; }
  map() {
    return this.once("map", () => {
      const { kind, layer, head, view, aggregate } = this.state;
      if (view !== "aggregate") return this.trace.head(kind, layer, head);
      if (aggregate === "rollout" && kind === "encoder") return this.trace.rolled;
      const [which, how] = aggregate === "rollout" ? ["layer", "mean"] : aggregate.split("-");
      return this.trace.combined(kind, aggregateHeads(this, which), how);
    });
  }
  picture() { return this.once("picture", () => slice(this.trace, this.state.kind, this.map(), this.slicing())); }
  colours() { return this.once("colours", () => lookup(this.state.palette, this.state.scale === "root")); }
  rowIndex(picture) { const id = this.trace.rowOf(this.state.kind, this.state); return picture.rows.findIndex(group => group.ids.includes(id)); }
  headName() {
    const { view, layer, head, aggregate } = this.state;
    return view === "aggregate" ? t(AGGREGATES.find(([value]) => value === aggregate)[1]) : `L${layer + 1} H${head + 1}`;
  }
  roleOf(kind, layer, head) { return this.trace.heads ? this.trace.heads[kind].role[layer * this.trace.maps[kind].heads + head] : ""; }

  /* ---- choices ---- */
  chooseRow(i, hover = null) {
    const id = this.picture().rows[i].ids[0];
    this.set(this.state.kind === "encoder" ? { query: id, hover } : { step: id, hover });
  }
  pin(side, id) {
    const list = this.state.pins[side], next = list.includes(id) ? list.filter(each => each !== id) : [...list, id];
    this.set({ pins: { ...this.state.pins, [side]: next } });
  }
  pinCell({ i, j }) {
    const { rows, columns } = this.picture(), { pins } = this.state, row = rows[i].ids[0], column = columns[j].ids[0];
    const both = pins.rows.includes(row) && pins.columns.includes(column);
    const toggle = (list, id) => (both ? list.filter(each => each !== id) : list.includes(id) ? list : [...list, id]);
    this.set({ pins: { rows: toggle(pins.rows, row), columns: toggle(pins.columns, column) } });
  }
  overlay(layer, head) {
    const { overlay } = this.state, has = overlay.some(([l, h]) => l === layer && h === head);
    const base = overlay.length || has ? overlay : [[this.state.layer, this.state.head]];
    const next = has ? overlay.filter(([l, h]) => l !== layer || h !== head) : base.some(([l, h]) => l === layer && h === head) ? base : [...base, [layer, head]];
    this.set({ overlay: next });
  }

  /* ---- a translation arrives ---- */
  show(payload) {
    this.steps.stop();
    const before = this.payload, trace = new Translation(payload), beforeLive = this.beforeLive;
    this.live = this.beforeLive = null;
    const { kind, layer, head, view, picked } = beforeLive || this.state;
    const same = before && before.checkpoint.sha256 === payload.checkpoint.sha256; // another model's heads are others
    const best = same || picked ? { layer, head } : trace.leading;
    this.trace = trace;
    this.version++;
    const wish = this.wanted && this.wanted.text === payload.source ? this.wanted : {}, wanted = wish.view || {};
    if (wish.view) this.wanted = null;
    this.set({
      trace: this.version, kind, view, ...best, step: Math.min(3, trace.tgt.length - 1), query: Math.min(1, trace.src.length - 1),
      hover: null, peek: null, pins: { rows: [], columns: [] }, overlay: [], ...within(trace, wanted),
    });
    this.find(".work").hidden = this.find(".chain").hidden = this.find(".export").hidden = false;
    this.find(".empty").hidden = true;
    this.health.show(trace);
    this.payload = payload;
  }

  /** One decode step while the translation is being written. */
  stream(message) {
    if (!this.live) {
      this.beforeLive = { ...this.state };
      this.lastGood = this.payload;
      this.live = new LiveTranslation(message);
      this.steps.stop();
      this.set({ kind: "cross", view: this.state.view === "aggregate" ? "heatmap" : this.state.view, pins: { rows: [], columns: [] }, overlay: [], hover: null, peek: null });
    }
    this.live.add(message);
    this.trace = this.live.frozen();
    this.version++;
    this.find(".work").hidden = this.find(".chain").hidden = false;
    this.find(".empty").hidden = true;
    this.set({ trace: this.version, step: message.index });
  }

  /** Back to the last whole translation, after a stop or an error. */
  restore() {
    if (!this.live) return;
    const good = this.lastGood, before = this.beforeLive;
    this.live = null;
    if (good) { this.show(good); this.set({ kind: before.kind, step: before.step, query: before.query }); }
  }
  notice(text, isError = false) {
    const node = this.find(".notice");
    if (node.hidden !== !text) this.set({ size: {} });  // the maps give way, so that the chain still fits one screen
    node.hidden = !text;
    node.classList.toggle("error", isError);
    node.classList.remove("vh");
    node.textContent = text || "";
    this.sayOnce();
    if (node.classList.contains("vh")) this.find("#input-health").animate([{ opacity: .2 }, { opacity: 1 }], 400);
  }
  /** What the strip says too is left to it on the screen, while screen readers hear the notice; both go together. */
  sayOnce() {
    const node = this.find(".notice"), was = node.classList.contains("vh"), is = this.health.says(node.textContent);
    if (was !== is) this.set({ size: {} });
    node.classList.toggle("vh", is);
    if (was && !is) this.notice("");
  }
  empty(text) {
    this.find(".work").hidden = this.find(".chain").hidden = this.find(".export").hidden = true;
    this.find(".empty").hidden = false;
    this.find(".empty p").textContent = text;
  }

  /** Put the page's language on everything that does not change with the trace. */
  speak() {
    this.root.lang = LANGUAGES[pageLanguage()];
    this.root.querySelectorAll("[data-t]").forEach(node => { node.textContent = t(node.dataset.t); });
    this.root.querySelectorAll("[data-aria]").forEach(node => node.setAttribute("aria-label", t(node.dataset.aria)));
  }
}

/** The part of a wished-for state that this translation can show. */
const within = (trace, wanted) => {
  const kind = Object.hasOwn(trace.maps, wanted.kind) ? wanted.kind : "cross", { layers, heads } = trace.maps[kind], ok = {};
  const known = {
    kind: Object.keys(trace.maps), view: ["heatmap", "arcs", "aggregate"], unit: ["sub", "word"], scale: ["linear", "root", "row"], specials: ["shown", "hidden", "renormalised"],
    aggregate: AGGREGATES.map(([value]) => value).filter(value => !value.startsWith("chosen") && (value !== "rollout" || kind === "encoder")),
  };
  for (const [name, values] of Object.entries(known)) if (values.includes(wanted[name])) ok[name] = wanted[name];
  for (const [name, count] of Object.entries({ layer: layers, head: heads, step: trace.tgt.length, query: trace.src.length })) if (Number.isInteger(wanted[name]) && wanted[name] >= 0 && wanted[name] < count) ok[name] = wanted[name];
  if (ok.specials) ok.renormalise = ok.specials === "renormalised";
  return ok;
};

/** A translation while it is written: cross rows only, one a step; a row that was missed stays empty. */
class LiveTranslation extends Translation {
  constructor(message) {
    const [layers, heads, columns] = message.shape;
    super({ ...message, shapes: { encoder: [0, 0, 0, 0], decoder: [0, 0, 0, 0], cross: [layers, heads, 0, columns] }, weights: { encoder: "", decoder: "", cross: "" }, rollout: "", encoding: "u16", tgt: [], steps: [] });
    this.rowsSeen = [];
    this.stepsSeen = [];
    this.live = true;
  }
  add(message) {
    this.rowsSeen[message.index] = floatsOf(message.cross, "u16");
    this.stepsSeen[message.index] = message.step;
    this.tgt = message.tgt;
    this.logProbs = message.log_probs;
  }
  frozen() {
    const { layers, heads, columns } = this.maps.cross, rows = this.tgt.length, values = new Float32Array(layers * heads * rows * columns);
    for (let t = 0; t < rows; t++) {
      const seen = this.rowsSeen[t];
      if (seen) for (let h = 0; h < layers * heads; h++) values.set(seen.subarray(h * columns, (h + 1) * columns), (h * rows + t) * columns);
    }
    const copy = Object.create(Object.getPrototypeOf(this));
    Object.assign(copy, this, { maps: { cross: { layers, heads, rows, columns, values } }, reads: [this.start, ...this.tgt.slice(0, -1)] });
    copy.steps = this.tgt.map((_, i) => this.stepsSeen[i] || { lp: this.logProbs[i], h: 0, c: [] });
    return copy;
  }
}
