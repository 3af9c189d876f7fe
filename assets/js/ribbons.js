/* Words in rows and the links between them as ribbons: the switchboard's three rows, an alignment's two. */

const RIBBON_STYLE = "text{font:16px sans-serif;fill:#1b1c1f}.narrow text{font-size:13px}.row-name{font-size:13px;font-weight:600;fill:#54575d}.fresh{stroke:#c2410c;stroke-width:2}.missed{stroke:#1b1c1f;stroke-dasharray:3 3}";

/** How wide a text is when it is drawn. */
const measured = (text, size, weight = 400) => {
  const pen = (measured.pen ||= document.createElement("canvas").getContext("2d"));
  pen.font = `${weight} ${size}px ${cssVar("--sans") || "sans-serif"}`;
  return pen.measureText(text).width;
};

/** Rows below each other; the longest fills the width, and none is cut: the picture grows instead. */
const rowsAcross = (rows, width) => {
  const size = 16, margin = Math.max(...rows.map(row => measured(row.name, 13, 600))) + 20, room = width - margin - 12, step = 146;
  const sums = rows.map(row => row.words.reduce((sum, word) => sum + measured(word, size), 0)), gaps = rows.map(row => Math.max(row.words.length - 1, 1));
  const gap = clamp(Math.min(...rows.map((_, r) => (room - sums[r]) / gaps[r])), 7, 18), wide = Math.max(room, ...rows.map((_, r) => sums[r] + gap * gaps[r]));
  const places = rows.map((row, r) => {
    const free = clamp((wide - sums[r]) / gaps[r], gap, 78);
    let x = margin;
    return row.words.map(word => { const half = measured(word, size) / 2, at = x + half; x += 2 * half + free; return { x: at, y: 20 + r * step, half, anchor: "middle" }; });
  });
  return { places, names: rows.map((_, r) => ({ x: 0, y: 20 + r * step })), width: margin + wide + 12, height: 40 + step * (rows.length - 1), thick: 15, ends: (a, b) => [[a.x, a.y + 9], [b.x, b.y - 18]] };
};

/** Rows beside each other, for a narrow page. */
const rowsDown = (rows, width) => {
  const size = 13, widths = rows.map(row => Math.max(...row.words.map(word => measured(word, size)), measured(row.name, size, 600))), all = widths.reduce((sum, each) => sum + each, 0);
  const between = Math.max((width - all) / (rows.length - 1), 32), high = 28 * Math.max(...rows.map(row => row.words.length)), last = rows.length - 1;
  const starts = widths.map((_, r) => widths.slice(0, r).reduce((sum, each) => sum + each + between, 0)), anchors = rows.map((_, r) => (r === 0 ? "start" : r === last ? "end" : "middle"));
  const x = r => starts[r] + (r === 0 ? 0 : r === last ? widths[r] : widths[r] / 2);
  const places = rows.map((row, r) => row.words.map((_, i) => ({ x: x(r), y: 44 + ((i + .5) * high) / row.words.length, half: widths[r] / 2, left: starts[r] - 5, right: starts[r] + widths[r] + 5, anchor: anchors[r] })));
  return { places, names: rows.map((_, r) => ({ x: x(r), y: 14, anchor: anchors[r] })), width: all + between * last, height: 56 + high, thick: 10, narrow: true, ends: (a, b) => [[a.right, a.y - 4], [b.left, b.y - 4]] };
};

/**
 * rows: [{name, words, lang, fresh: which words are marked}]; bands: for each pair of neighbours a table of
 * weights [upper][lower]; missed: pairs [upper, lower] of the first band drawn as dashed lines.
 */
const ribbons = ({ rows, bands, missed = [], width, label, theme }) => {
  const set = (width < 560 ? rowsDown : rowsAcross)(rows, width), { places } = set, colours = lookup("house", false, theme);
  const svg = svgEl("svg", { width: Math.ceil(set.width), height: set.height, role: "img", "aria-label": label, class: "ribbons" + (set.narrow ? " narrow" : "") });
  const path = (from, to, attributes) => {
    const [[x, y], [z, end]] = set.ends(from, to), bend = set.narrow ? `${(x + z) / 2},${y} ${(x + z) / 2},${end}` : `${x},${(y + end) / 2} ${z},${(y + end) / 2}`;
    const node = svgEl("path", { d: `M${x},${y}C${bend} ${z},${end}`, fill: "none", ...attributes });
    svg.append(node);
    return node;
  };
  bands.forEach((band, r) => band.forEach((line, i) => line.forEach((weight, j) => {
    if (weight < .08) return;
    const node = path(places[r][i], places[r + 1][j], { stroke: rgb(colours[Math.round(256 * clamp(weight, 0, 1))]), "stroke-width": (1 + set.thick * weight).toFixed(1), "stroke-opacity": .8 });
    node.append(svgEl("title", {}, `${rows[r].words[i]} – ${rows[r + 1].words[j]} ${two(weight)}`));
  })));
  for (const [i, j] of missed) path(places[0][i], places[1][j], { class: "missed" });
  rows.forEach((row, r) => {
    svg.append(svgEl("text", { x: set.names[r].x, y: set.names[r].y, "text-anchor": set.names[r].anchor || "start", class: "row-name" }, row.name));
    row.words.forEach((word, i) => {
      const { x, y, anchor } = places[r][i], half = measured(word, set.narrow ? 13 : 16) / 2, middle = x + (anchor === "start" ? half : anchor === "end" ? -half : 0);
      svg.append(svgEl("text", { x, y, "text-anchor": anchor, lang: row.lang || "" }, word));
      if (row.fresh?.[i]) svg.append(svgEl("line", { x1: middle - half, x2: middle + half, y1: y + 6, y2: y + 6, class: "fresh" }));
    });
  });
  return svg;
};

/** The same picture as a file of its own: on white, with its styles inside. */
const ribbonsText = options => {
  const svg = ribbons({ ...options, width: 1000, theme: "light" }), width = Number(svg.getAttribute("width")) + 40, height = Number(svg.getAttribute("height")) + 32;
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", viewBox: `-20 -16 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
  svg.prepend(svgEl("style", {}, RIBBON_STYLE), svgEl("rect", { x: -20, y: -16, width, height, fill: "#ffffff" }));
  return new XMLSerializer().serializeToString(svg).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");  // no XML may hold them
};
