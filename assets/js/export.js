/* Take it away: pictures and tables made here, exact arrays and the offline page from the server. */

const saveAs = (name, blob) => {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
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
    const picture = x.picture(), { kind, scale, palette, labels } = x.state, size = measureMap(1200, 900, picture.rows.length, picture.columns.length, { labels: kind === "encoder" ? 120 : 190, top: 100, small: false });
    size.columns = picture.columns.length;
    size.rows = picture.rows.length;
    const view = { size, scale, palette, labels, small: false, theme: "light", paper: "#ffffff", width: Math.ceil(size.labels + size.cellWidth * size.columns + 90), height: Math.ceil(size.top + size.cellHeight * size.rows + 20), range: { x: [-.5, size.columns - .5], y: [size.rows - .5, -.5] } };
    const made = heatFigure(picture, kind, view);
    made.data[0].showscale = true;
    made.data[0].colorbar = { thickness: 10, len: 1, outlinewidth: 0, title: { text: x.find(".scale-name").textContent, side: "right", font: { size: 12 } } };
    made.layout.margin.r = 88;
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
  const picture = async format => {
    if (x.state.view === "arcs") {
      const text = arcsPicture(), svg = new Blob([text], { type: "image/svg+xml" });
      if (format === "svg") return svg;
      const image = new Image(), canvas = document.createElement("canvas"), url = URL.createObjectURL(svg);
      await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = url; });
      canvas.width = image.width * 2;
      canvas.height = image.height * 2;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      return new Promise(done => canvas.toBlob(done, "image/png"));
    }
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
    const { source, settings, checkpoint } = x.trace, { kind, layer, head } = x.state, quote = text => JSON.stringify(text);
    const options = Object.entries(settings).filter(([name, value]) => value !== null && DECODE_DEFAULTS[name] !== value).map(([name, value]) => `, ${name}=${typeof value === "string" ? quote(value) : value === true ? "True" : value === false ? "False" : value}`);
    return ["import translator", "", `t = translator.load(${quote(`${checkpoint.src}-${checkpoint.tgt}`)})`, `trace = t.translate(${quote(source)}${options.join("")})`, "print(trace.translation)", "",
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
      saveAs(`${["json", "npz", "html"].includes(what) ? "attention-" + x.trace.checkpoint.name.replace(/[^\w-]+/g, "-") : stem()}.${what}`, await made[what]());
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
    const { checkpoint, maps, seconds, settings } = x.trace;
    if (x.trace.live) return;
    x.find(".export .model").textContent = `${checkpoint.name} · ${t("{layers} layers × {heads} heads", { layers: maps.cross.layers, heads: maps.cross.heads })} · ${settingsText(settings)}${seconds === null ? "" : ` · ${seconds.toFixed(2)} s`}`;
    x.root.querySelectorAll(".server-only").forEach(node => { node.hidden = !x.server; });
  };
  return { paint };
};

const DECODE_DEFAULTS = window.__decodeDefaults || {};
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
const permalink = x => {
  const { source, direction, settings } = x.trace, { kind, layer, head, step, query, view, unit } = x.state, part = new URLSearchParams();
  part.set("d", direction);
  part.set("t", source);
  for (const [name, key] of Object.entries(SETTING_KEYS)) if (settings[name] !== null && settings[name] !== DECODE_DEFAULTS[name]) part.set(key, settings[name]);
  part.set("k", kind);
  part.set("l", layer + 1);
  part.set("h", head + 1);
  part.set("s", step + 1);
  if (kind === "encoder") part.set("q", query + 1);
  if (view !== "heatmap") part.set("v", view);
  if (unit !== "sub") part.set("u", unit);
  const address = new URL(location.href);
  address.hash = part.toString();
  return address.href;
};
const readPermalink = hash => {
  const part = new URLSearchParams(hash.replace(/^#/, "")), number = key => (part.has(key) ? Number(part.get(key)) - 1 : undefined);
  if (!part.has("t")) return null;
  const settings = {};
  for (const [name, key] of Object.entries(SETTING_KEYS)) if (part.has(key)) settings[name] = name === "method" ? part.get(key) : Number(part.get(key));
  return { text: part.get("t"), direction: part.get("d") || "en-zh", settings, view: { kind: part.get("k"), layer: number("l"), head: number("h"), step: number("s"), query: number("q"), view: part.get("v"), unit: part.get("u") } };
};
