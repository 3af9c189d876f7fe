/* All heads at once: one canvas, one tile a head, on the same colour scale as the large map. */

const ROLE_NAMES = { aligns: "Aligns", previous: "Previous", same: "Itself", next: "Next", sink: "Sink", diffuse: "Diffuse", mixed: "Mixed" };
const SORTS = [["layer", "layer"], ["entropy", "entropy"], ["confidence", "largest weight"], ["distance", "distance"], ["special", "on specials"], ["punctuation", "on punctuation"]];

const makeMosaic = x => {
  const box = x.find("#attention-mosaic"), roles = x.find(".roles"), layers = x.find(".layers"), sort = x.find(".sort");
  const canvas = el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "mosaic" }), frame = el("div", { class: "tile-frame", "aria-hidden": "true" });
  const heads = el("div", { class: "head-labels", "aria-hidden": "true" }), rows = el("div", { class: "layer-labels", "aria-hidden": "true" });
  box.append(heads, rows, canvas, frame);
  let tiles = [], sheets = new Map(), state = "", soon = 0, columns = 8;

  /** Where each head stands: a grid of layers by heads, one sorted stream, or on a phone one layer. */
  const arrange = () => {
    const { kind, layer, sort: by } = x.state, { layers: L, heads: H } = x.trace.maps[kind], small = phone(), list = [];
    for (let l = 0; l < L; l++) for (let h = 0; h < H; h++) if (!small || by !== "layer" || l === layer) list.push({ l, h });
    if (by !== "layer" && x.trace.heads) {
      const value = tile => x.trace.heads[kind][by][tile.l * H + tile.h];
      list.sort((a, b) => (by === "confidence" ? value(b) - value(a) : value(a) - value(b)));
    }
    columns = small ? Math.min(4, H) : H;
    const { width, room: whole } = x.places().mosaic, gap = small ? 8 : H > 12 ? 2 : 4, count = Math.ceil(list.length / columns);
    const w = (width - gap * (columns - 1)) / columns, room = whole - 62, h = small ? 76 : clamp((room - gap * (count - 1)) / count, 22, Math.max(62, 1.8 * w));
    tiles = list.map((tile, n) => ({ ...tile, n, x: (n % columns) * (w + gap), y: Math.floor(n / columns) * (h + gap), w, tall: h }));
    return { width, height: count * (h + gap) - gap, count, gap, h, w };
  };

  /** Every map as a small picture, several cells to a pixel by their largest weight, so that no peak is lost. */
  const pictures = (kind, tileWidth) => {
    const { scale, palette } = x.state, limit = Math.max(24, Math.ceil(tileWidth * devicePixelRatio)), now = [scale, palette, dark(), limit, x.version].join();
    if (now !== state) { state = now; sheets = new Map(); }
    if (!sheets.has(kind)) sheets.set(kind, tileImages(x.trace, kind, x.colours(), limit, scale));
    return sheets.get(kind);
  };

  /** Make the pictures of the other kinds while there is nothing else to do, so that a switch finds them. */
  const prepare = tileWidth => {
    if (soon || x.trace.live) return;
    soon = whenIdle(() => {
      soon = 0;
      if (x.trace.live) return;
      const next = Object.keys(x.trace.maps).find(kind => !sheets.has(kind));
      if (next) { pictures(next, tileWidth); prepare(tileWidth); }
    });
  };

  const draw = place => {
    const ratio = devicePixelRatio || 1, context = canvas.getContext("2d"), { kind, layer, head, role, tile: mode } = x.state, map = x.trace.maps[kind], { sheet, w, h } = pictures(kind, place.w);
    if (canvas.width !== Math.round(place.width * ratio) || canvas.height !== Math.round(place.height * ratio)) {
      canvas.width = Math.round(place.width * ratio);
      canvas.height = Math.round(place.height * ratio);
      canvas.style.height = place.height + "px";
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, place.width, place.height);
    context.imageSmoothingEnabled = false;
    const edge = cssVar("--line"), ink = cssVar("--ink2"), page = cssVar("--page"), now = cssVar("--here"), row = x.trace.rowOf(kind, x.state);
    const tagged = x.state.sort !== "layer" || phone();
    for (const tile of tiles) {
      const left = tile.h * w, top = tile.l * h, fit = role && x.roleOf(kind, tile.l, tile.h) !== role;
      context.globalAlpha = fit ? .22 : 1;
      context.fillStyle = page;
      context.fillRect(tile.x, tile.y, tile.w, tile.tall);
      const line = Math.min(h - 1, Math.floor((row * h) / map.rows)), [first, tall] = mode === "row" ? [top + line, 1] : [top, h];
      context.drawImage(sheet, left, first, w, tall, tile.x, tile.y, tile.w, tile.tall);
      const each = tile.tall / map.rows;
      if (mode !== "row" && x.state.playing && kind !== "encoder") {
        context.globalAlpha = .82;
        context.fillStyle = page;
        context.fillRect(tile.x, tile.y + each * (row + 1), tile.w, tile.tall - each * (row + 1));
        context.globalAlpha = fit ? .22 : 1;
      }
      context.strokeStyle = edge;
      context.lineWidth = 1;
      context.strokeRect(tile.x + .5, tile.y + .5, tile.w - 1, tile.tall - 1);
      if (mode !== "row" && (x.state.playing || (tile.l === layer && tile.h === head))) {
        context.fillStyle = now;
        context.fillRect(tile.x, tile.y + each * row, 2, Math.max(2, each));
      }
      const overlay = x.state.overlay.findIndex(([l, h]) => l === tile.l && h === tile.h);
      if (overlay >= 0) {
        context.strokeStyle = HEAD_COLOURS[overlay % HEAD_COLOURS.length];
        context.lineWidth = 2;
        context.strokeRect(tile.x + 1, tile.y + 1, tile.w - 2, tile.tall - 2);
      }
      if (tagged) {
        const text = phone() && x.state.sort === "layer" ? `H${tile.h + 1}` : `L${tile.l + 1} H${tile.h + 1}`;
        context.font = "11px " + cssVar("--sans");
        context.globalAlpha = fit ? .4 : 1;
        context.fillStyle = page;
        context.fillRect(tile.x + 3, tile.y + tile.tall - 18, context.measureText(text).width + 6, 15);
        context.fillStyle = ink;
        context.fillText(text, tile.x + 6, tile.y + tile.tall - 6);
      }
      context.globalAlpha = 1;
    }
    const chosen = tiles.find(tile => tile.l === layer && tile.h === head);
    frame.hidden = !chosen || x.state.view === "aggregate";
    if (chosen) Object.assign(frame.style, { left: canvas.offsetLeft + chosen.x - 2 + "px", top: canvas.offsetTop + chosen.y - 2 + "px", width: chosen.w + 4 + "px", height: chosen.tall + 4 + "px" });
  };

  const labels = place => {
    const { layer, head, sort: by, kind } = x.state, plain = by === "layer" && !phone(), map = x.trace.maps[kind];
    heads.replaceChildren(...(plain ? tiles.slice(0, columns).map(tile => el("span", { class: tile.h === head ? "on" : "", text: "H" + (tile.h + 1), style: `left:${tile.x}px;width:${tile.w}px` })) : []));
    const count = phone() ? 0 : place.count;
    rows.replaceChildren(...Array.from({ length: count }, (_, i) => el("span", { class: plain && i === layer ? "on" : "", text: plain ? "L" + (i + 1) : String(i * columns + 1), style: `top:${i * (place.h + place.gap)}px;height:${place.h}px` })));
    layers.replaceChildren(...Array.from({ length: map.layers }, (_, l) => el("button", { type: "button", "aria-pressed": l === layer, text: "L" + (l + 1), on: { click: () => x.set({ layer: l }) } })));
    canvas.setAttribute("aria-label", t("All heads of {kind}. Arrow keys choose; chosen: {head}, {role}", { kind: t(KIND_NAMES[kind]), head: x.headName(), role: t(ROLE_NAMES[x.roleOf(kind, layer, head)] || "") }));
  };

  const filters = () => {
    const { kind, role } = x.state, counts = {};
    for (const name of x.trace.heads ? x.trace.heads[kind].role : []) counts[name] = (counts[name] || 0) + 1;
    const all = x.trace.maps[kind].layers * x.trace.maps[kind].heads;
    const button = (value, name, count) => el("button", { type: "button", "aria-pressed": role === value, on: { click: () => x.set({ role: role === value ? null : value }) } }, t(name), el("span", { text: String(count) }));
    roles.replaceChildren(button(null, "All", all), ...Object.keys(ROLE_NAMES).filter(name => counts[name]).map(name => button(name, ROLE_NAMES[name], counts[name])));
    sort.replaceChildren(...SORTS.map(([value, name]) => el("option", { value, text: t(name) })));
    sort.value = x.state.sort;
  };
  sort.addEventListener("change", () => x.set({ sort: sort.value }));

  const at = event => {
    const rect = canvas.getBoundingClientRect(), px = event.clientX - rect.left, py = event.clientY - rect.top;
    const tile = tiles.find(each => px >= each.x && px < each.x + each.w && py >= each.y && py < each.y + each.tall);
    if (!tile) return null;
    const map = x.trace.maps[x.state.kind];
    const row = x.state.tile === "row" ? x.trace.rowOf(x.state.kind, x.state) : Math.floor(((py - tile.y) / tile.tall) * map.rows);
    return { ...tile, row: clamp(row, 0, map.rows - 1), column: clamp(Math.floor(((px - tile.x) / tile.w) * map.columns), 0, map.columns - 1) };
  };
  canvas.addEventListener("mousemove", event => {
    const cell = x.trace && at(event);
    canvas.style.cursor = cell ? "pointer" : "";
    if (!cell) return x.say(null);
    const { kind } = x.state, weight = x.trace.head(kind, cell.l, cell.h)[cell.row * x.trace.maps[kind].columns + cell.column];
    const usual = usually(x.trace, kind, cell.l, cell.h), values = { head: `L${cell.l + 1} H${cell.h + 1}` + (usual ? `, ${usual.text}` : ""), reads: x.trace.queries(kind)[cell.row].s, key: x.trace.keys(kind)[cell.column].s, weight: weight.toFixed(3) };
    const future = kind === "decoder" && cell.column > cell.row;
    x.say(future ? tParts("{head}: {key} lies in the future of this row", values)
      : kind === "encoder" ? tParts("{head}: {reads} looks at {key} {weight}", values)
        : tParts("{head}: reads {reads}, predicts {predicts}, looks at {key} {weight}", { ...values, predicts: x.trace.tgt[cell.row].s }));
  });
  canvas.addEventListener("mouseleave", () => x.say(null));
  canvas.addEventListener("click", event => {
    const cell = x.trace && at(event);
    if (!cell) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) x.overlay(cell.l, cell.h);
    else x.set({ layer: cell.l, head: cell.h, hover: null, view: x.state.view === "aggregate" ? "heatmap" : x.state.view });
  });
  canvas.addEventListener("keydown", event => {
    const move = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Enter" || event.key === "+") return x.overlay(x.state.layer, x.state.head);
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const now = tiles.findIndex(tile => tile.l === x.state.layer && tile.h === x.state.head);
    if (phone() && x.state.sort === "layer" && (now + move < 0 || now + move >= tiles.length)) {
      return x.set({ layer: clamp(x.state.layer + Math.sign(move), 0, x.trace.maps[x.state.kind].layers - 1) });
    }
    const next = tiles[Math.abs(move) > 1e8 ? clamp(now + move, 0, tiles.length - 1) : (now + move + tiles.length) % tiles.length];
    x.set({ layer: next.l, head: next.h, hover: null });
  });

  const paint = changed => {
    const place = arrange();
    if (place.width <= 0) return;
    draw(place);
    prepare(place.w);
    if (["trace", "kind", "layer", "head", "role", "sort", "language", "size"].some(name => changed.has(name))) { labels(place); filters(); }
  };
  return { needs: ["trace", "kind", "layer", "head", "role", "sort", "step", "query", "colours", "playing", "overlay", "tile", "view", "language", "size"], paint, canvas: () => canvas };
};

const rowPeaks = (values, rows, columns) => Array.from({ length: rows }, (_, i) => {
  let best = 1e-9;
  for (let j = 0; j < columns; j++) if (values[i * columns + j] > best) best = values[i * columns + j];
  return best;
});

/** Each head's map as a small picture, w by h pixels, none above `limit`, in the colours of `table`; head by head in rows on one sheet. */
const tileImages = (trace, kind, table, limit, scale) => {
  const map = trace.maps[kind], across = Math.ceil(map.columns / limit), down = Math.ceil(map.rows / limit), w = Math.ceil(map.columns / across), h = Math.ceil(map.rows / down);
  const sheet = document.createElement("canvas");
  sheet.width = Math.max(1, w * map.heads);
  sheet.height = Math.max(1, h * map.layers);
  const context = sheet.getContext("2d"), image = context.createImageData(sheet.width, sheet.height), data = image.data;
  for (let l = 0; l < map.layers; l++) for (let hd = 0; hd < map.heads; hd++) {
    const values = trace.head(kind, l, hd), peak = scale === "row" ? rowPeaks(values, map.rows, map.columns) : null;
    for (let i = 0; i < h; i++) for (let j = 0; j < w; j++) {
      let best = 0, future = kind === "decoder";
      for (let a = i * down; a < Math.min((i + 1) * down, map.rows); a++) for (let b = j * across; b < Math.min((j + 1) * across, map.columns); b++) {
        const weight = values[a * map.columns + b] / (peak ? peak[a] : 1);
        if (weight > best) best = weight;
        if (b <= a) future = false;
      }
      const colour = table[Math.round(256 * clamp(best, 0, 1))], at = 4 * ((l * h + i) * sheet.width + hd * w + j);
      data[at] = colour[0]; data[at + 1] = colour[1]; data[at + 2] = colour[2]; data[at + 3] = future ? 0 : 255;
    }
  }
  context.putImageData(image, 0, 0);
  return { sheet, w, h };
};
