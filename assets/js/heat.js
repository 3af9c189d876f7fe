/* How one map is drawn: its sizes, its colours, and the figure that Plotly is given. */

const SMALLEST_COLUMN = 16, SMALLEST_ROW = 14, CAPTION = 190;  // pixels; the longest caption over the columns
const axisText = (group, length) => escapeHtml(cut(group.text, length));

/** How far the label of a column reaches up, and over its neighbours: 13 pixels a sign where signs are wide, some 7 else. */
const reach = (group, small) => {
  const long = [...cut(group.text)].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 13 : 7.2), 0);
  return long * (small ? 11 / 13 : Math.SQRT1_2);
};

/** Sizes of a map in its frame: how wide a cell is, and how many fit before the frame has to scroll. */
const measureMap = (width, room, picture, { labels, top: least, small }) => {
  const rows = picture.rows.length, columns = picture.columns.length;
  const beside = small ? 2 : Math.max(28, reach(picture.columns[columns - 1]));
  const labelled = Math.ceil(Math.max(...picture.columns.map(group => reach(group, small))));
  const top = Math.max(least, labelled + 30);  // the caption stands over the labels
  const cellWidth = Math.max(SMALLEST_COLUMN, Math.min(48, (width - labels - beside) / columns));
  const cellHeight = small ? 28 : clamp(Math.min(cellWidth * 1.15, (room - top) / rows), SMALLEST_ROW, 36);
  const fitX = Math.max(1, Math.floor((width - labels - beside) / cellWidth + .001)), fitY = small ? rows : Math.max(6, Math.floor((room - top) / cellHeight + .001));
  const right = Math.max(beside, Math.min(CAPTION, width - labels) - cellWidth * columns);  // it is longer than few columns
  return { labels, top, right, cellWidth, cellHeight, columns: Math.min(columns, fitX), rows: Math.min(rows, fitY) };
};

/** Colour stops for Plotly. The square root bends the scale, not the numbers. */
const plotScale = (palette, root, theme) => {
  const table = lookup(palette, root, theme), points = [];
  for (let i = 0; i <= 32; i++) { const at = root ? (i / 32) ** 2 : i / 32; points.push([at, rgb(table[Math.round(at * 256)])]); }
  return points;
};

const plotColours = theme => {
  const light = theme === "light";
  return { ink: light ? "#1b1c1f" : cssVar("--ink"), second: light ? "#54575d" : cssVar("--ink2"), third: light ? "#6a6d73" : cssVar("--ink3") };
};

/** Pixels between two cells. */
const gapOf = size => (size.cellWidth > 12 && size.cellHeight > 9 ? 1 : .5);

/** What Plotly draws: nothing where a row cannot look, and by choice each row in shares of its largest weight. */
const shownCells = ({ z, masked }, scale) => z.map((values, i) => {
  const peak = scale === "row" ? Math.max(...values, 1e-9) : 1;
  return values.map((weight, j) => (masked(i, j) ? null : weight / peak));
});

/** One of the pictures on a sheet in whole multiples of its size: a viewer that smooths leaves its cells sharp. */
const enlarged = ({ sheet, w, h }, column, row, size) => {
  const canvas = document.createElement("canvas");
  canvas.width = w * Math.max(1, Math.ceil(size / w));
  canvas.height = h * Math.max(1, Math.ceil(size / h));
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, column * w, row * h, w, h, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
};

/** Cells as a picture of one pixel each, as Plotly makes of a map without gaps, or enlarged to `size` or a little more; null is clear. */
const cellPicture = (cells, table, size = 0) => {
  const canvas = el("canvas", { width: cells[0].length, height: cells.length }), context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  cells.flat().forEach((weight, n) => { if (weight !== null) image.data.set([...table[Math.round(256 * clamp(weight, 0, 1))], 255], 4 * n); });
  context.putImageData(image, 0, 0);
  return size ? enlarged({ sheet: canvas, w: canvas.width, h: canvas.height }, 0, 0, size) : canvas.toDataURL();
};

/** Plotly's data and layout for one picture. `labels` is "both", "reads" or "predicts". */
const heatFigure = (picture, kind, view) => {
  const { rows, columns } = picture, { size, range, scale, palette, labels, theme, small } = view, colour = plotColours(theme);
  const own = rows.map(row => ({ text: kind === "encoder" ? row.text : row.predicts })), reads = rows.map(row => ({ text: kind === "encoder" ? row.text : row.reads }));
  const both = kind !== "encoder" && labels === "both", near = kind === "encoder" || labels === "reads" ? reads : own;
  const cells = shownCells(picture, scale);
  const font = { family: cssVar("--sans") || "sans-serif", size: clamp(size.cellHeight - 3, 10, 13), color: colour.ink };
  const axis = { type: "linear", showgrid: false, zeroline: false, showline: false, ticks: "", fixedrange: false, automargin: false, ticklabeloverflow: "allow" };
  const gap = view.lines ? 0 : gapOf(size);  // without gaps Plotly's picture has one pixel a cell, which takes a third of the time
  const data = [{
    type: "heatmap", z: cells, x: columns.map((_, j) => j), y: rows.map((_, i) => i), zmin: 0, zmax: 1, xgap: gap, ygap: gap, showscale: false, hoverinfo: "none",
    colorscale: plotScale(palette, scale === "root", theme),
  }];
  const title = (text, x, y, anchor, shift) => ({ text, xref: "paper", yref: "paper", x, y, xanchor: anchor, yanchor: "bottom", xshift: shift, yshift: 6, align: anchor, showarrow: false, font: { size: 12, color: colour.third } });
  const keyTitle = t(kind === "decoder" ? "key: target token already read" : "key: source token attended to");
  const nearTitle = kind === "encoder" ? t("query") : labels === "reads" ? t("query (reads)") : t("predicts");
  const layout = {
    width: view.width, height: view.height, margin: { l: size.labels, r: size.right, t: size.top, b: 2, pad: 0 }, font, paper_bgcolor: view.paper || "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    hovermode: false, dragmode: view.touch ? false : "zoom", showlegend: false,
    xaxis: { ...axis, side: "top", range: range.x, tickvals: columns.map((_, j) => j), ticktext: columns.map(group => axisText(group)), tickangle: small ? -90 : -45, tickfont: { ...font, size: small ? 11 : 13, color: colour.second } },
    yaxis: { ...axis, range: range.y, tickvals: rows.map((_, i) => i), ticktext: near.map(group => axisText(group, both ? 10 : 12)), tickfont: font, ticklabelstandoff: 6 },
    annotations: [
      { ...title(keyTitle, 0, 1, "left", 0), yshift: size.top - 18, name: "key" },
      title(small ? nearTitle.replace(" ", "<br>") : nearTitle, 0, 1, "right", -8),
    ],
  };
  if (both) {
    data.push({ type: "scatter", x: [0], y: [0], yaxis: "y2", mode: "markers", marker: { opacity: 0 }, hoverinfo: "skip" });
    layout.yaxis2 = { ...axis, range: range.y, matches: "y", overlaying: "y", side: "left", anchor: "free", position: 0, shift: -74, tickvals: rows.map((_, i) => i), ticktext: reads.map(group => axisText(group, 10)), tickfont: { ...font, color: colour.third }, ticklabelstandoff: 6 };
    layout.annotations.push(title(t("query (reads)"), 0, 1, "right", -82));
  }
  return { data, layout };
};
