/* The chain: source and target tokens as chips, the step control, and the text of the present step. */

const makeChips = x => {
  const boxes = { src: x.find(".chips.src"), tgt: x.find(".chips.tgt") };
  let built = null;

  const chip = (side, tokens, i) => {
    const token = tokens[i], next = tokens[i + 1], previous = tokens[i - 1];
    const joins = (a, b) => a && b && a.w >= 0 && a.w === b.w && !(b.f & SPACE) && !((a.f | b.f) & SPECIAL);
    const classes = ["chip", token.f & SPECIAL && "sp", token.f & UNKNOWN && "unknown", joins(token, next) && "glue", joins(previous, token) && "glued"];
    const node = el("button", { type: "button", class: classes.filter(Boolean).join(" "), lang: LANGUAGES[x.trace.checkpoint[side]] || x.trace.checkpoint[side], "data-i": i }, cut(token.s, 24));
    if (side === "tgt") node.append(el("i", { text: Math.exp(x.trace.steps[i].lp).toFixed(2).replace(/^0/, "") }));
    return node;
  };
  const build = () => {
    for (const side of ["src", "tgt"]) boxes[side].replaceChildren(...x.trace[side].map((_, i) => chip(side, x.trace[side], i)));
    built = x.trace;
  };

  for (const side of ["src", "tgt"]) {
    const at = event => { const node = event.target.closest(".chip"); return node ? +node.dataset.i : null; };
    boxes[side].addEventListener("mouseover", event => { if (at(event) !== null) x.set({ peek: { side, id: at(event) } }); });
    boxes[side].addEventListener("mouseleave", () => x.set({ peek: null }));
    boxes[side].addEventListener("focusin", event => { if (at(event) !== null && event.target.matches(":focus-visible")) x.set({ peek: { side, id: at(event) } }); });
    boxes[side].addEventListener("focusout", () => x.set({ peek: null }));
    boxes[side].addEventListener("click", event => {
      const i = at(event);
      if (i === null) return;
      if (side === "tgt") x.set({ step: i, peek: null });
      else if (x.state.kind === "encoder") x.set({ query: i, peek: null });
      else x.pin("columns", i);
    });
    boxes[side].addEventListener("keydown", event => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || at(event) === null) return;
      event.preventDefault();
      event.stopPropagation();
      boxes[side].children[clamp(at(event) + move, 0, boxes[side].children.length - 1)].focus();
    });
  }

  /** Weights that shade each side, or null: the row of the step (or of the token pointed at), or a column of it. */
  const shades = () => {
    const { kind, step, query, peek } = x.state, { columns, rows } = x.trace.maps[kind], map = x.map();
    if (kind === "cross" && peek && peek.side === "src") {
      return { src: null, tgt: x.trace.tgt.map((_, i) => (i < rows ? map[i * columns + peek.id] : 0)) };
    }
    const row = kind === "encoder" ? (peek && peek.side === "src" ? peek.id : query) : peek && peek.side === "tgt" ? peek.id : step;
    const values = Array.from(map.subarray(row * columns, (row + 1) * columns));
    return kind === "decoder" ? { src: null, tgt: x.trace.tgt.map((_, i) => (i + 1 <= row ? values[i + 1] : null)) } : { src: values, tgt: null };
  };

  const paint = () => {
    if (built !== x.trace) build();
    const { kind, step, query, peek, pins } = x.state, shade = shades(), table = x.colours(), picture = x.picture(), hover = x.state.hover;
    const linked = hover ? { rows: picture.rows[hover.i]?.ids || [], columns: picture.columns[hover.j]?.ids || [] } : { rows: [], columns: [] };
    const lift = toRgb(cssVar("--lift")), grey = toRgb(cssVar("--chip-grey"));
    [...boxes.src.children].forEach((node, i) => {
      const weight = shade.src && shade.src[i];
      shadeChip(node, weight !== null && weight > .03 ? table[Math.round(256 * clamp(weight, 0, 1))] : null);
      node.title = weight === null || weight === undefined ? "" : weight.toFixed(4);
      node.classList.toggle("link", (peek && peek.side === "src" && peek.id === i) || (kind === "encoder" ? linked.rows.includes(i) || linked.columns.includes(i) : kind === "cross" && linked.columns.includes(i)));
      node.classList.toggle("pinned", kind !== "decoder" && pins.columns.includes(i));
      current(node, kind === "encoder" && i === query);
    });
    [...boxes.tgt.children].forEach((node, i) => {
      const weight = shade.tgt ? shade.tgt[i] : null, p = Math.exp(x.trace.steps[i].lp), share = Math.max(0, (p - .3) / .7) ** 1.2 * .78;
      if (shade.tgt) shadeChip(node, weight !== null && weight > .03 ? table[Math.round(256 * clamp(weight, 0, 1))] : null);
      else shadeChip(node, lift.map((value, k) => Math.round(value + (grey[k] - value) * share)), true);
      node.title = `p = ${p.toFixed(4)}, ${t("entropy")} ${x.trace.steps[i].h.toFixed(2)} ${t("nats")}`;
      node.classList.toggle("link", kind !== "encoder" && i !== step && ((peek && peek.side === "tgt" && peek.id === i) || linked.rows.includes(i)));
      node.classList.toggle("future", x.state.playing && i > step);
      current(node, kind !== "encoder" && i === step);
    });
    for (const box of Object.values(boxes)) follow(box, box.querySelector("[aria-current]"));
    const name = x.headName();
    x.find(".src-note").textContent = shade.src ? t("weight in {head}", { head: name }) : "";
    x.find(".row-name:not(.steprow) > small:not(.src-note)").textContent = shade.tgt ? t("weight in {head}", { head: name }) : t("probability");
  };
  /** Keep the present chip in a box that shows two lines of many. */
  const follow = (box, node) => {
    if (!node || box.scrollHeight <= box.clientHeight || box.matches(":hover")) return;
    if (node.offsetTop < box.scrollTop + 4 || node.offsetTop + node.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = node.offsetTop - 4;
  };
  const current = (node, on) => (on ? node.setAttribute("aria-current", "step") : node.removeAttribute("aria-current"));
  const shadeChip = (node, colour, isGrey = false) => {
    node.style.background = colour ? rgb(colour) : "";
    node.style.color = colour ? (isGrey ? "" : inkOn(colour)) : "";
    node.classList.toggle("shaded", !!colour && !isGrey);
  };
  return { needs: ["trace", "kind", "map", "step", "query", "hover", "peek", "pins", "colours", "language", "playing"], paint };
};

const makeSteps = x => {
  const slider = x.find("#step-slider"), out = x.find(".stepout"), play = x.find("[data-play]");
  let timer = 0;
  const go = step => x.set({ step: clamp(step, 0, x.trace.tgt.length - 1), hover: null });
  const stop = () => { clearInterval(timer); timer = 0; x.set({ playing: false }); };
  const start = () => {
    if (x.state.step >= x.trace.tgt.length - 1) go(0);
    x.set({ playing: true });
    timer = setInterval(() => (x.state.step >= x.trace.tgt.length - 1 ? stop() : go(x.state.step + 1)), 700);
  };
  const toggle = () => (timer ? stop() : start());
  slider.addEventListener("input", () => { if (timer) stop(); go(slider.value - 1); });
  x.root.querySelectorAll("[data-move]").forEach(button => button.addEventListener("click", () => { if (timer) stop(); go(x.state.step + +button.dataset.move); }));
  play.addEventListener("click", toggle);
  x.onKey(event => {
    const free = !event.target.closest("input,select,textarea,button,summary,[role=application],[role=grid],dialog,[role=tab]") || event.target.closest(".chain .chip");
    if (!free || !x.trace || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") go(x.state.step + (event.key === "ArrowLeft" ? -1 : 1));
    else if (event.key === " " && !event.target.closest("button")) toggle();
    else return;
    event.preventDefault();
  });
  const paint = () => {
    const { step } = x.state, total = x.trace.tgt.length, { lp, h } = x.trace.steps[step];
    slider.max = total;
    slider.value = step + 1;
    slider.style.setProperty("--fill", (total > 1 ? (100 * step) / (total - 1) : 100) + "%");
    const words = { reads: x.trace.reads[step].s, predicts: x.trace.tgt[step].s };
    out.replaceChildren(
      el("span", { class: "where", text: t("Step {n} of {total}", { n: step + 1, total }) }),
      el("span", {}, ...tParts("reads {reads}, predicts {predicts}", words)),
      el("span", { class: "pp", text: `p = ${two(Math.exp(lp))}` }),
      el("span", { class: "entropy" }, ...tParts("entropy {h} nats", { h: h.toFixed(2) })),
    );
    slider.setAttribute("aria-valuetext", out.textContent);
    play.setAttribute("aria-label", t(x.state.playing ? "Pause" : "Play"));
    play.querySelector("path").setAttribute("d", x.state.playing ? "M4.5 3.2h2.6v9.6H4.5zM8.9 3.2h2.6v9.6H8.9z" : "M5 3.2v9.6L12.5 8z");
  };
  return { needs: ["trace", "step", "playing", "language"], paint, stop: () => timer && stop() };
};
