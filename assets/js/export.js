/* Take it away: pictures and tables made here, exact arrays and the offline page from the server. */

const saveAs = (name, blob) => {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};

/** An SVG text as a file of either format; the PNG has twice its size in pixels. */
const drawing = async (text, format) => {
  const svg = new Blob([text], { type: "image/svg+xml" });
  if (format === "svg") return svg;
  const image = new Image(), canvas = document.createElement("canvas"), url = URL.createObjectURL(svg);
  await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = url; });
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise(done => canvas.toBlob(done, "image/png"));
};

/** A cell that a spreadsheet opens as text: quoted, and never as a formula. */
const csvCell = text => {
  const safe = /^[=+\-@|%\t\r\n＝＋－＠]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

const makeExports = x => {
  const said = x.find(".export .said"), dialog = x.find(".snippet");
  const tell = text => { said.textContent = text; clearTimeout(tell.timer); tell.timer = setTimeout(() => { said.textContent = ""; }, 4000); };
  const stem = () => {
    const { kind, layer, head, view, aggregate } = x.state;
    return ["attention", x.trace.checkpoint.name.replace(/[^\w-]+/g, "-"), kind, view === "aggregate" ? aggregate : `L${layer + 1}H${head + 1}`].join("-");
  };
  const request = () => ({ text: x.trace.source, direction: x.trace.direction, settings: x.trace.settings, id: x.trace.id });

  /** The translation with 32-bit weights: the server decodes again (the same text gives the same weights); an offline page holds them. */
  const exact = async () => {
    if (x.trace.encoding === "f32") return x.trace;
    if (!x.server) throw new Error(t("the server is needed for this"));
    const answer = await x.server.exact(request());
    if (answer.error) throw new Error(answer.error);
    return new Translation(answer);
  };
  const exactPicture = async () => {
    const whole = await exact(), holder = Object.create(x);
    holder.trace = whole;
    holder.memory = {};
    return slice(whole, x.state.kind, Explorer.prototype.map.call(holder), x.slicing());
  };

  /* pictures, always on the light scale */
  const figure = () => {
    const picture = x.picture(), { kind, scale, palette, labels } = x.state, size = measureMap(1200, 900, picture, { labels: kind === "encoder" ? 120 : 190, top: 100, small: false });
    const beside = Math.max(88, size.right);  // the scale, and what the caption needs of its place
    size.columns = picture.columns.length;
    size.rows = picture.rows.length;
    const view = { size, scale, palette, labels, small: false, theme: "light", paper: "#ffffff", width: Math.ceil(size.labels + size.cellWidth * size.columns + beside + 2), height: Math.ceil(size.top + size.cellHeight * size.rows + 20), range: { x: [-.5, size.columns - .5], y: [size.rows - .5, -.5] } };
    const made = heatFigure(picture, kind, view);
    made.data[0].showscale = true;
    made.data[0].colorbar = { thickness: 10, len: 1, outlinewidth: 0, title: { text: x.find(".scale-name").textContent, side: "right", font: { size: 12 } } };
    made.layout.margin.r = beside;
    made.layout.margin.b = 18;
    return { ...made, width: view.width, height: view.height };
  };
  const arcsPicture = () => {
    const copy = x.arcs.svg().cloneNode(true), style = svgEl("style");
    style.textContent = "text{font-family:sans-serif;fill:#1b1c1f}.axis-name,.special{fill:#6a6d73}.axis-name{font-size:12px}.now{fill:#c2410c;font-weight:600}";
    copy.prepend(style, svgEl("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
  };
  const which = x.find(".what");
  const drawings = { mosaic: () => mosaicSvg(x), candidates: () => candidatesSvg(x), arcs: arcsPicture };
  const picture = async format => {
    const drawn = drawings[which.value === "head" ? x.state.view : which.value];
    if (drawn) return drawing(drawn(), format);
    const { data, layout, width, height } = figure(), address = await Plotly.toImage({ data, layout, config: PLOT_CONFIG }, { format, width, height, scale: format === "png" ? 2 : 1 });
    const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
    return new Blob([head.includes("base64") ? bytesOf(body) : decodeURIComponent(body)], { type: format === "png" ? "image/png" : "image/svg+xml" });
  };

  const csv = async () => {
    const { rows, columns, z, masked } = await exactPicture(), first = x.state.kind === "encoder" ? ["query"] : ["query (reads)", "predicts"];
    const lines = [[...first, ...columns.map(column => column.text)], ...rows.map((row, i) => [...(x.state.kind === "encoder" ? [row.text] : [row.reads, row.predicts]), ...z[i].map((weight, j) => (masked(i, j) ? "" : String(weight)))])];
    return new Blob(["\ufeff" + lines.map((line, n) => line.map((cell, k) => (n && k >= first.length ? cell : csvCell(cell))).join(",")).join("\r\n") + "\r\n"], { type: "text/csv" });
  };
  const json = async () => {
    const whole = await exact(), nested = kind => {
      const { layers, heads, rows, columns } = whole.maps[kind];
      return Array.from({ length: layers }, (_, l) => Array.from({ length: heads }, (_, h) => { const map = whole.head(kind, l, h); return Array.from({ length: rows }, (_, i) => Array.from(map.subarray(i * columns, (i + 1) * columns))); }));
    };
    const token = each => ({ id: each.i, surface: each.s, word: each.w, special: !!(each.f & SPECIAL), unknown: !!(each.f & UNKNOWN) });
    const steps = whole.steps.map((step, i) => ({ token: token(whole.tgt[i]), log_prob: step.lp, entropy: step.h, candidates: step.c.map(each => ({ surface: each.s, id: each.i, log_prob: each.lp })) }));
    const { source, normalised, translation, checkpoint, settings, truncated } = whole;
    return new Blob([JSON.stringify({ source, normalised, translation, checkpoint, settings, truncated, src: whole.src.map(token), start: token(whole.start), tgt: whole.tgt.map(token), steps, encoder: nested("encoder"), decoder: nested("decoder"), cross: nested("cross") })], { type: "application/json" });
  };
  const fromServer = name => async () => {
    const answer = await x.server[name](request());
    if (answer.error) throw new Error(answer.error);
    return new Blob([bytesOf(answer.base64)], { type: answer.type });
  };
  const python = () => {
    const { source, checkpoint } = x.trace, { kind, layer, head } = x.state, quote = text => JSON.stringify(text);
    const options = Object.entries(decodingOf(x.trace)).map(([name, value]) => `, ${name}=${typeof value === "string" ? quote(value) : value === true ? "True" : value === false ? "False" : value}`);
    return ["import translator", "", `t = translator.load(${quote(checkpoint.name)})`, `trace = t.translate(${quote(source)}${options.join("")})`, "print(trace.translation)", "",
      `weights = trace.${kind}[${layer}, ${head}]  # layer ${layer + 1}, head ${head + 1}: [${x.trace.maps[kind].rows}, ${x.trace.maps[kind].columns}]`,
      `queries = [token.surface for token in trace.queries(${quote(kind)})]`, `keys = [token.surface for token in trace.keys(${quote(kind)})]`].join("\n");
  };

  const made = { png: () => picture("png"), svg: () => picture("svg"), csv, json, npz: fromServer("npz"), html: fromServer("offline") };
  x.root.querySelectorAll("[data-export]").forEach(button => button.addEventListener("click", async () => {
    const what = button.dataset.export;
    if (!x.trace || x.trace.live) return;
    try {
      if (what === "link") { const link = permalink(x); await copyText(link); return tell(t("Link copied")); }
      if (what === "python") { dialog.querySelector("pre").textContent = python(); return dialog.showModal(); }
      button.setAttribute("aria-busy", "true");
      const whole = "attention-" + x.trace.checkpoint.name.replace(/[^\w-]+/g, "-"), figure = which.value, drawn = (what === "png" || what === "svg") && figure !== "head";
      const name = ["json", "npz", "html"].includes(what) ? whole : drawn ? `${whole}-${figure === "mosaic" ? x.state.kind + "-all" : figure + "-" + (x.state.step + 1)}` : stem();
      saveAs(`${name}.${what}`, await made[what]());
      tell(t("Saved"));
    } catch (error) {
      tell(t("Not saved: {reason}", { reason: error.message || String(error) }));
    } finally {
      button.removeAttribute("aria-busy");
    }
  }));
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.querySelector("[data-copy]").addEventListener("click", async () => { await copyText(dialog.querySelector("pre").textContent); dialog.close(); });

  const paint = () => {
    const { checkpoint, maps, seconds, settings } = x.trace, figure = which.value || "head";
    which.replaceChildren(...FIGURES.map(([value, name]) => el("option", { value, text: t(name) })));
    which.value = figure;
    if (x.trace.live) return;
    x.find(".export .model").textContent = `${checkpoint.name} · ${t("{layers} layers × {heads} heads", { layers: maps.cross.layers, heads: maps.cross.heads })} · ${settingsText(settings)}${seconds === null ? "" : ` · ${seconds.toFixed(2)} s`}`;
    x.root.querySelectorAll(".server-only").forEach(node => { node.hidden = !x.server; });
  };
  return { paint };
};

const FIGURES = [["head", "this figure"], ["mosaic", "all heads"], ["candidates", "candidates"]];
const PAPER = { ink: "#1b1c1f", third: "#6a6d73", here: "#c2410c", line: "#e2e2dc", bar: "#6f747d", track: "#efefea" };

/** An empty picture on white, and a pen for its texts. */
const paper = (width, height) => {
  const root = svgEl("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif", "font-size": 12 });
  root.append(svgEl("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  const write = (text, x, y, attributes = {}) => root.append(svgEl("text", { x, y, fill: PAPER.ink, ...attributes }, text));
  return { root, write, text: () => new XMLSerializer().serializeToString(root) };
};

/** All heads of the present kind: one picture a tile (a cell stays one colour), names and legend as text. */
const mosaicSvg = x => {
  const { kind, layer, head, scale, palette } = x.state, map = x.trace.maps[kind], table = lookup(palette, scale === "root", "light");
  const tile = 96, gap = 6, left = 36, top = 64, width = left + map.heads * (tile + gap) + 10, height = top + map.layers * (tile + gap) + 40, page = paper(width, height);
  page.write(`${x.trace.checkpoint.name} · ${t(KIND_NAMES[kind])}`, left, 24, { "font-size": 16, "font-weight": 600 });
  page.write(cut(x.trace.source, Math.floor(width / 9)), left, 42, { fill: PAPER.third });
  for (let h = 0; h < map.heads; h++) page.write("H" + (h + 1), left + h * (tile + gap) + tile / 2, top - 6, { "text-anchor": "middle", fill: h === head ? PAPER.here : PAPER.third });
  const tiles = tileImages(x.trace, kind, table, 512, scale);
  for (let l = 0; l < map.layers; l++) for (let h = 0; h < map.heads; h++) {
    const at = { x: left + h * (tile + gap), y: top + l * (tile + gap), width: tile, height: tile };
    if (!h) page.write("L" + (l + 1), left - 8, at.y + tile / 2 + 4, { "text-anchor": "end", fill: l === layer ? PAPER.here : PAPER.third });
    const image = svgEl("image", { ...at, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    image.setAttribute("href", enlarged(tiles, h, l, 2 * tile));
    page.root.append(image, svgEl("rect", { ...at, fill: "none", stroke: l === layer && h === head ? PAPER.here : PAPER.line, "stroke-width": l === layer && h === head ? 2 : 1 }));
  }
  for (let i = 0; i < 60; i++) page.root.append(svgEl("rect", { x: left + 14 + 2 * i, y: height - 24, width: 2.5, height: 8, fill: rgb(table[Math.round((256 * i) / 59)]) }));
  page.write("0", left, height - 16, { fill: PAPER.third });
  page.write("1", left + 140, height - 16, { fill: PAPER.third });
  page.write(x.find(".scale-name").textContent, left + 156, height - 16, { fill: PAPER.third });
  return page.text();
};

const candidatesSvg = x => {
  const items = candidatesOf(x.trace, x.state.step, 8), { reads, predicts } = { reads: x.trace.reads[x.state.step].s, predicts: x.trace.tgt[x.state.step].s }, page = paper(480, 64 + 26 * items.length);
  page.write(`${t("Candidates")} ${t("at step {n}", { n: x.state.step + 1 })}`, 16, 24, { "font-size": 16, "font-weight": 600 });
  page.write(`${t("query (reads)")}: ${reads} · ${t("predicts")}: ${predicts}`, 16, 42, { fill: PAPER.third });
  items.forEach((each, n) => {
    const y = 56 + 26 * n, weight = each.chosen ? 600 : 400;
    page.write(cut(each.s, 18), 16, y + 14, { "font-weight": weight, fill: each.rest ? PAPER.third : PAPER.ink });
    page.root.append(svgEl("rect", { x: 160, y: y + 3, width: 250, height: 14, fill: PAPER.track }), svgEl("rect", { x: 160, y: y + 3, width: 250 * clamp(each.p, 0, 1), height: 14, fill: each.chosen ? PAPER.here : PAPER.bar }));
    page.write(each.p.toFixed(4), 464, y + 14, { "text-anchor": "end", "font-weight": weight });
  });
  return page.text();
};

const DECODE_DEFAULTS = window.__decodeDefaults || {};
const METHODS = { greedy: [], beam: ["beam", "length_penalty"], sample: ["temperature", "top_k", "top_p", "seed"] };
/** The settings that give this translation again: none where it was decoded as the checkpoint is decoded best. */
const decodingOf = ({ settings, automatic }) => {
  if (automatic) return {};
  const used = ["method", ...METHODS[settings.method]], others = Object.values(METHODS).flat();
  const said = ([name, value]) => used.includes(name) || (!others.includes(name) && value !== null && value !== DECODE_DEFAULTS[name]);
  return Object.fromEntries(Object.entries(settings).filter(said));
};
const settingsText = settings => {
  const name = settings.method === "beam" ? t("beam {n}", { n: settings.beam }) : settings.method === "sample" ? t("sampled, seed {n}", { n: settings.seed }) : t("greedy");
  return settings.max_length ? t("{method}, at most {n} tokens", { method: name, n: settings.max_length }) : name;
};

const copyText = async text => {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = el("textarea", { class: "vh" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};

/* ---- a link that rebuilds the view; all of it in the fragment, which no server sees ---- */
const SETTING_KEYS = { method: "m", beam: "b", length_penalty: "lp", temperature: "te", top_k: "tk", top_p: "tp", seed: "sd", max_length: "ml" };
const VIEW_KEYS = { unit: "u", aggregate: "a", scale: "c", specials: "x" };
const permalink = x => {
  const { source, direction } = x.trace, { kind, layer, head, step, query, view } = x.state, part = new URLSearchParams();
  part.set("d", direction);
  part.set("t", source);
  for (const [name, value] of Object.entries(decodingOf(x.trace))) if (name in SETTING_KEYS) part.set(SETTING_KEYS[name], value);
  part.set("k", kind);
  part.set("l", layer + 1);
  part.set("h", head + 1);
  part.set("s", step + 1);
  if (kind === "encoder") part.set("q", query + 1);
  if (view !== "heatmap") part.set("v", view);
  for (const [name, key] of Object.entries(VIEW_KEYS)) if (x.state[name] !== FIRST_STATE[name]) part.set(key, x.state[name]);
  const address = new URL(location.href);
  address.hash = part.toString();
  return address.href;
};
/** What a link asks for, or null; what it says of numbers that are none is left out. */
const readPermalink = hash => {
  const part = new URLSearchParams(hash.replace(/^#/, "")), place = key => (part.has(key) ? Number(part.get(key)) - 1 : undefined);
  if (!part.has("t")) return null;
  const settings = {}, method = part.get(SETTING_KEYS.method);
  for (const [name, key] of Object.entries(SETTING_KEYS)) if (part.get(key) && Number.isFinite(Number(part.get(key)))) settings[name] = Number(part.get(key));
  delete settings.method;
  if (Object.hasOwn(METHODS, method)) settings.method = method;
  const view = { kind: part.get("k"), layer: place("l"), head: place("h"), step: place("s"), query: place("q"), view: part.get("v") };
  for (const [name, key] of Object.entries(VIEW_KEYS)) view[name] = part.get(key);
  return { text: part.get("t"), direction: part.get("d"), settings, view };
};
