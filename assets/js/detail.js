/* One map in full: a Plotly heat map with truthful axes, and the frames that lie over it. */

const PLOT_CONFIG = { responsive: false, displayModeBar: false, displaylogo: false, showSendToCloud: false, typesetMath: false, doubleClick: false, scrollZoom: false };

/** What of the state decides how a map is drawn. */
const DRAWN_BY = ["kind", "layer", "head", "view", "unit", "scale", "palette", "specials", "labels", "aggregate", "overlay"];

const makeDetail = x => {
  const box = x.find("#attention-detail"), lines = svgEl("svg", { class: "between", "aria-hidden": "true" }), hatch = el("div", { class: "hatch", "aria-hidden": "true" }), over = el("div", { class: "over", "aria-hidden": "true" });
  const ruled = svgEl("path");
  const frames = { row: el("div", { class: "row-frame" }), cell: el("div", { class: "cell-frame" }), veil: el("div", { class: "veil" }) };
  const scroll = { x: el("div", { class: "scroll-x", tabindex: "-1" }, el("div")), y: el("div", { class: "scroll-y", tabindex: "-1" }, el("div")) };
  const reset = el("button", { type: "button", class: "btn reset-zoom", hidden: true, on: { click: () => { zoom = null; x.set({ size: {} }); } } });
  const plots = {};  // one a kind, and of what it is drawn
  const plotOf = kind => (plots[kind] ||= { node: el("div", { class: "plot" }), key: "" });
  let plot = plotOf(x.state.kind).node, seen = null, size = null, zoom = null, first = { x: 0, y: 0 }, place = null, shape = "", waiting = 0, untold = null;
  lines.append(ruled);
  over.append(frames.veil, frames.row, frames.cell);
  box.append(plot, lines, hatch, over, scroll.x, scroll.y, reset);

  const ranges = (picture, size, first) => {
    const startX = clamp(first.x, 0, picture.columns.length - size.columns), startY = clamp(first.y, 0, picture.rows.length - size.rows);
    return { x: [startX - .5, startX + size.columns - .5], y: [startY + size.rows - .5, startY - .5] };
  };

  /** Where a frame that is too small for the whole map begins, to hold the present row and its strongest cell. */
  const revealed = (who, picture, size, first) => {
    const row = who.rowIndex(picture), values = picture.z[row] || [], column = values.indexOf(Math.max(...values)), next = { ...first };
    if (row < first.y || row >= first.y + size.rows) next.y = clamp(row - Math.floor(size.rows / 2), 0, picture.rows.length - size.rows);
    if (size.columns < picture.columns.length && (column < first.x || column >= first.x + size.columns)) next.x = clamp(column - Math.floor(size.columns / 2), 0, picture.columns.length - size.columns);
    return next;
  };

  /** How large the map of the explorer `who` is drawn; `view` lacks the range. */
  const measured = who => {
    const picture = who.picture(), { kind, scale, palette, labels } = who.state, small = phone(), { width, room } = x.places().detail, both = kind !== "encoder" && labels === "both" && !small;
    const size = measureMap(Math.floor(width) - 2, room, picture, { labels: small ? 72 : both ? 160 : 96, top: small ? 86 : 78, small });
    const view = { size, scale, palette, labels: small && labels === "both" ? "predicts" : labels, small, width: Math.ceil(size.labels + size.cellWidth * size.columns + size.right), height: Math.ceil(size.top + size.cellHeight * size.rows + 4), touch: touch(), lines: true };
    return { picture, size, view };
  };

  /** Let Plotly draw the map of `who` into its plot, unless it is there already. */
  const fill = (who, picture, view) => {
    const { kind } = who.state, drawn = plotOf(kind), key = keyOf(who, view);
    if (drawn.key === key) return;
    const figure = heatFigure(picture, kind, view);
    Plotly.react(drawn.node, figure.data, figure.layout, PLOT_CONFIG);
    drawn.node.style.height = view.height + "px";
    drawn.key = key;
    if (!drawn.node.dataset.wired) wire(drawn);
  };
  const keyOf = (who, view) => JSON.stringify([x.version, dark(), pageLanguage(), view, ...DRAWN_BY.map(name => who.state[name])]);

  const draw = () => {
    if (x.places().detail.width <= 2 || !window.Plotly) return;
    const { kind } = x.state, found = measured(x), { picture, view } = found;
    untold = null;
    size = found.size;
    const now = [kind, x.version, picture.rows.length, picture.columns.length].join();
    if (now !== shape) { shape = now; zoom = null; first = revealed(x, picture, size, { x: 0, y: 0 }); }
    seen = { ...view, range: zoom || ranges(picture, size, first) };
    const { node } = plotOf(kind);
    if (plot !== node) { plot.replaceWith(node); plot = node; }
    fill(x, picture, seen);
    bars(picture, seen);
    place = { left: size.labels, top: size.top, width: view.width - size.labels - size.right, height: view.height - size.top - 2 };
    for (const each of [lines, hatch]) Object.assign(each.style, { left: place.left + "px", top: place.top + "px", width: place.width + "px", height: place.height + "px" });
    hatch.hidden = kind !== "decoder";
    reset.hidden = !zoom;
    reset.textContent = t("Reset zoom");
    name();
    over.style.visibility = "visible";
    overlay();
    ahead();
  };

  /** Draw the other kinds too, one at a time, when nothing has happened for a while: a switch then only shows them. */
  const ahead = () => {
    clearTimeout(waiting);
    if (!x.trace.live && !phone()) waiting = setTimeout(() => whenIdle(drawAhead), 250);
  };
  const drawAhead = () => {
    if (x.trace.live || x.changed.size || box.hidden || x.places().detail.width <= 2) return;
    if (untold) { tell(); return whenIdle(drawAhead); }
    for (const kind of Object.keys(x.trace.maps)) if (kind !== x.state.kind) {
      const who = x.as(kind), { picture, size, view } = measured(who), { node, key } = plotOf(kind);
      node.classList.add("ahead");
      box.append(node);
      fill(who, picture, { ...view, range: ranges(picture, size, revealed(who, picture, size, { x: 0, y: 0 })) });
      node.remove();
      node.classList.remove("ahead");
      if (plotOf(kind).key !== key) return whenIdle(drawAhead);
    }
  };

  const name = () => box.setAttribute("aria-label", t("Attention of {head}. Arrow keys move from cell to cell, Enter chooses the row", { head: x.headName() }));

  /** Another head of the same size: its picture takes the place of Plotly's at once; Plotly, which draws for longer, is told when there is time. */
  const refill = () => {
    const cells = shownCells(x.picture(), x.state.scale), image = plot.querySelector(".heatmaplayer image");
    untold = cells;
    plotOf(x.state.kind).key = "";
    if (image && !phone()) {
      const smooths = image.style.imageRendering !== "pixelated";  // Plotly knows which browsers do: Safari
      image.href.baseVal = cellPicture(cells, x.colours(), smooths ? devicePixelRatio * Math.max(place.width, place.height) : 0);
      plot.data[0].z = cells;
    } else tell();
    name();
    overlay();
    ahead();
  };

  /** Let Plotly have the cells that are in sight; before it draws by itself, it must. */
  const tell = () => {
    if (!untold) return;
    const cells = untold;
    untold = null;
    Plotly.restyle(plot, { z: [cells] }, [0]);
    if (!zoom && !x.changed.size) plotOf(x.state.kind).key = keyOf(x, { ...seen, range: ranges(x.picture(), size, first) });
    overlay();
  };

  const bars = (picture, view) => {
    const wide = size.columns < picture.columns.length && !zoom, tall = size.rows < picture.rows.length && !zoom;
    scroll.x.hidden = !wide;
    scroll.y.hidden = !tall;
    for (const bar of [scroll.x, scroll.y]) if (bar.hidden) bar.at = null;  // a hidden bar forgets where it was
    if (wide) {
      Object.assign(scroll.x.style, { left: size.labels + "px", width: view.width - size.labels + "px" });
      scroll.x.firstChild.style.width = ((view.width - size.labels) * picture.columns.length) / size.columns + "px";
      bring(scroll.x, "scrollLeft", first.x * size.cellWidth);
    }
    if (tall) {
      Object.assign(scroll.y.style, { top: size.top + "px", height: view.height - size.top + "px", left: view.width + "px" });
      scroll.y.firstChild.style.height = ((view.height - size.top) * picture.rows.length) / size.rows + "px";
      bring(scroll.y, "scrollTop", first.y * size.cellHeight);
    }
  };
  /** Scroll a bar, if it is not there by itself: to say so makes the browser lay the page out at once. */
  const bring = (bar, way, to) => { if (bar.at !== to) bar[way] = bar.at = to; };
  let pending = false;
  const scrolled = event => {
    event.target.at = null;
    const next = { x: scroll.x.hidden ? first.x : Math.round(scroll.x.scrollLeft / size.cellWidth), y: scroll.y.hidden ? first.y : Math.round(scroll.y.scrollTop / size.cellHeight) };
    if (pending || (next.x === first.x && next.y === first.y)) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      first = next;
      const range = ranges(x.picture(), size, first);
      tell();
      plotOf(x.state.kind).key = "";
      Plotly.relayout(plot, { "xaxis.range": range.x, "yaxis.range": range.y }).then(overlay);
    });
  };
  scroll.x.addEventListener("scroll", scrolled);
  scroll.y.addEventListener("scroll", scrolled);

  /* positions in pixels, from Plotly's own axes, so that a zoomed map keeps its frames */
  const axes = () => plot._fullLayout && { x: plot._fullLayout.xaxis, y: plot._fullLayout.yaxis };
  const boxOf = (i, j0, j1) => {
    const axis = axes(), left = axis.x._offset + axis.x.l2p(j0 - .5), right = axis.x._offset + axis.x.l2p(j1 + .5);
    const top = axis.y._offset + axis.y.l2p(i - .5), bottom = axis.y._offset + axis.y.l2p(i + .5);
    const limit = { left: axis.x._offset, right: axis.x._offset + axis.x._length, top: axis.y._offset, bottom: axis.y._offset + axis.y._length };
    return { left: clamp(left, limit.left, limit.right), right: clamp(right, limit.left, limit.right), top: clamp(top, limit.top, limit.bottom), bottom: clamp(bottom, limit.top, limit.bottom) };
  };
  const frame = (node, area, grow) => {
    node.hidden = !area || area.bottom - area.top < 2 || area.right - area.left < 2;
    if (!node.hidden) Object.assign(node.style, { left: area.left - grow + "px", top: area.top - grow + "px", width: area.right - area.left + 2 * grow + "px", height: area.bottom - area.top + 2 * grow + "px" });
  };

  const overlay = () => {
    if (!axes() || !size) return;
    const picture = x.picture(), { hover, pins, playing, kind } = x.state, row = x.rowIndex(picture), last = picture.columns.length - 1;
    frame(frames.row, row >= 0 ? boxOf(row, 0, last) : null, 2);
    frame(frames.cell, hover && picture.rows[hover.i] && picture.columns[hover.j] ? boxOf(hover.i, hover.j, hover.j) : null, 1);
    const after = playing && kind !== "encoder" && row + 1 < picture.rows.length ? { ...boxOf(row + 1, 0, last), bottom: boxOf(picture.rows.length - 1, 0, last).bottom } : null;
    frame(frames.veil, after, 0);
    over.querySelectorAll(".pin-frame").forEach(node => node.remove());
    const pinned = (area, grow) => { const node = el("div", { class: "pin-frame" }); over.append(node); frame(node, area, grow); };
    picture.rows.forEach((group, i) => { if (group.ids.some(id => pins.rows.includes(id))) pinned(boxOf(i, 0, last), 0); });
    picture.columns.forEach((group, j) => { if (group.ids.some(id => pins.columns.includes(id))) pinned({ ...boxOf(0, j, j), bottom: boxOf(picture.rows.length - 1, j, j).bottom }, 0); });
    rule();
    if (!hatch.hidden) clipHatch(picture);
    ticks(picture, row, hover);
  };

  /** Lines between the cells, in the page's colour, wherever Plotly's axes have them now. No repeated background: WebKit rounds its tiles to whole pixels. */
  const rule = () => {
    const { x: across, y: down } = axes();
    const ends = axis => { const [low, high] = [...axis.range].sort((a, b) => a - b); return Array.from({ length: Math.max(Math.floor(high + .5) - Math.ceil(low + .5) + 1, 0) }, (_, n) => axis.l2p(Math.ceil(low + .5) + n - .5).toFixed(2)); };
    const path = ends(across).map(at => `M${at} 0V${down._length}`).join("") + ends(down).map(at => `M0 ${at}H${across._length}`).join("");
    if (ruled.getAttribute("d") !== path) ruled.setAttribute("d", path);
    ruled.setAttribute("stroke-width", gapOf(size));
  };

  /** The hatching is cut to the cells of the future. */
  const clipHatch = picture => {
    const last = picture.columns.length - 1, left = place.left, top = place.top, points = [];
    picture.rows.forEach((_, i) => {
      const start = picture.columns.findIndex((_, j) => picture.masked(i, j));
      if (start < 0) return;
      const area = boxOf(i, start, last);
      points.push([area.left, area.top], [area.left, area.bottom]);
    });
    if (!points.length) return (hatch.style.clipPath = "inset(100%)");
    const edge = boxOf(0, last, last), corner = [[edge.right, points[points.length - 1][1]], [edge.right, points[0][1]]];
    hatch.style.clipPath = `polygon(${[...points, ...corner].map(([px, py]) => `${px - left}px ${py - top}px`).join(",")})`;
  };

  /** Mark the labels of the present row and of the column pointed at, without asking Plotly to lay out again. */
  const ticks = (picture, row, hover) => {
    const axis = axes();
    const mark = (selector, shown, index, name) => plot.querySelectorAll(selector).forEach((node, i) => node.classList.toggle(name, shown[i] === index));
    const visible = (values, range) => values.map((_, i) => i).filter(i => i >= Math.min(...range) && i <= Math.max(...range));
    const rows = visible(picture.rows, axis.y.range), columns = visible(picture.columns, axis.x.range);
    mark(".yaxislayer-above .ytick text", rows, row, "now");
    mark(".overaxes-above .y2tick text, .y2tick text", rows, row, "now2");
    mark(".xaxislayer-above .xtick text", columns, hover ? hover.j : -1, "pointed");
  };

  const wire = drawn => {
    drawn.node.dataset.wired = "1";
    drawn.node.on("plotly_relayout", change => {
      const keys = Object.keys(change);
      if (!keys.some(key => key.endsWith("range[0]"))) return;
      drawn.key = "";
      const picture = x.picture(), axis = axes(), whole = v => Math.round(v * 2) / 2;
      zoom = { x: axis.x.range.map(whole), y: axis.y.range.map(whole) };
      const full = zoom.x[0] <= -.5 && zoom.x[1] >= picture.columns.length - .5 && zoom.y[1] <= -.5 && zoom.y[0] >= picture.rows.length - .5;
      if (full) zoom = null;
      reset.hidden = !zoom;
      overlay();
    });
  };

  const cellAt = event => {
    const axis = axes(), rect = plot.getBoundingClientRect();
    if (!axis || !x.trace) return null;
    const px = event.clientX - rect.left - axis.x._offset, py = event.clientY - rect.top - axis.y._offset;
    if (px < 0 || py < 0 || px > axis.x._length || py > axis.y._length) return null;
    const picture = x.picture(), j = Math.round(axis.x.p2l(px)), i = Math.round(axis.y.p2l(py));
    return picture.rows[i] && picture.columns[j] ? { i, j } : null;
  };
  let down = null;
  box.addEventListener("mousemove", event => {
    const cell = cellAt(event), hover = x.state.hover;
    if ((cell && hover && cell.i === hover.i && cell.j === hover.j) || (!cell && !hover)) return;
    x.set({ hover: cell });
  });
  box.addEventListener("mouseleave", () => x.set({ hover: null }));
  box.addEventListener("pointerdown", event => { tell(); down = { x: event.clientX, y: event.clientY }; }, true);
  box.addEventListener("pointerup", event => {
    const still = down && Math.abs(event.clientX - down.x) + Math.abs(event.clientY - down.y) < 5, cell = still && cellAt(event);
    down = null;
    if (!cell) return;
    if (event.shiftKey) x.pinCell(cell);
    else x.chooseRow(cell.i, cell);
  }, true);
  box.addEventListener("wheel", event => {
    const bar = Math.abs(event.deltaY) > Math.abs(event.deltaX) && !event.shiftKey ? scroll.y : scroll.x;
    if (bar.hidden || event.target.closest(".scroll-x, .scroll-y")) return;
    const before = [bar.scrollTop, bar.scrollLeft].join();
    bar.scrollTop += event.deltaY;
    bar.scrollLeft += event.deltaX || event.deltaY;
    if (before !== [bar.scrollTop, bar.scrollLeft].join()) event.preventDefault();
  }, { passive: false });
  box.addEventListener("dblclick", () => { zoom = null; draw(); });
  box.addEventListener("keydown", event => {
    if (!x.trace || event.target.closest("button")) return;
    const picture = x.picture(), hover = x.state.hover || { i: x.rowIndex(picture), j: 0 };
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (move) {
      const next = { i: clamp(hover.i + move[0], 0, picture.rows.length - 1), j: clamp(hover.j + move[1], 0, picture.columns.length - 1) };
      follow(picture, next);
      x.set({ hover: next });
    } else if (event.key === "Enter") x.chooseRow(hover.i, hover);
    else if (event.key === "p" || event.key === "P") x.pinCell(hover);
    else if (event.key === "+" || event.key === "-") magnify(picture, hover, event.key === "+" ? .6 : 1 / .6);
    else if (event.key === "Escape") { zoom = null; x.set({ hover: null }); draw(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const follow = (picture, cell) => {
    if (zoom) return;
    const before = { ...first };
    first.x = clamp(first.x, cell.j - size.columns + 1, cell.j);
    first.y = clamp(first.y, cell.i - size.rows + 1, cell.i);
    if (before.x !== first.x || before.y !== first.y) draw();
  };
  const magnify = (picture, cell, factor) => {
    const span = (range, centre, count) => { const half = Math.max(2, Math.abs(range[1] - range[0]) * factor) / 2; return [Math.max(-.5, centre - half), Math.min(count - .5, centre + half)]; };
    const axis = axes(), wide = span(axis.x.range, cell.j, picture.columns.length), tall = span(axis.y.range, cell.i, picture.rows.length);
    const full = wide[0] <= -.5 && wide[1] >= picture.columns.length - .5 && tall[0] <= -.5 && tall[1] >= picture.rows.length - .5;
    zoom = full ? null : { x: wide, y: [tall[1], tall[0]] };
    draw();
  };

  const heavy = ["trace", "kind", "map", "scale", "palette", "labels", "unit", "specials", "theme", "language", "size", "view"];
  const paint = changed => {
    const off = x.state.view === "arcs";
    if (box.hidden !== off) { box.hidden = off; scroll.x.at = scroll.y.at = null; x.moved(); }
    if (off) return;
    const weighty = heavy.filter(name => changed.has(name));
    if (weighty.length === 1 && weighty[0] === "map" && size && plot.dataset.wired) refill();
    else if (weighty.length) draw();
    else {
      if (size && (changed.has("step") || changed.has("query")) && !zoom) { const before = first; first = revealed(x, x.picture(), size, first); if (before.x !== first.x || before.y !== first.y) return draw(); }
      overlay();
    }
  };
  return { needs: [...heavy, "step", "query", "hover", "pins", "playing"], paint, plot: () => plot, redraw: draw };
};
