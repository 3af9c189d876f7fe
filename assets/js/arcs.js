/* The head view: two lines of tokens and the links between them; several heads may lie over each other. */

const FAINTEST = .02;

const makeArcs = x => {
  const box = x.find("#attention-arcs");
  let held = null;

  const layers = () => {
    const { kind, view } = x.state, overlay = x.state.overlay;
    if (!overlay.length || view === "aggregate") return [{ name: x.headName(), picture: x.picture(), colour: null }];
    return overlay.map(([l, h], n) => ({ name: `L${l + 1} H${h + 1}`, picture: slice(x.trace, kind, x.trace.head(kind, l, h), x.slicing()), colour: HEAD_COLOURS[n % HEAD_COLOURS.length] }));
  };

  /** The tokens whose links alone are shown: pointed at, else pinned, else (by choice) the present row. */
  const focus = picture => {
    const { pins, only } = x.state;
    if (held) return held;
    const rows = picture.rows.map((group, i) => (group.ids.some(id => pins.rows.includes(id)) ? i : -1)).filter(i => i >= 0);
    const columns = picture.columns.map((group, j) => (group.ids.some(id => pins.columns.includes(id)) ? j : -1)).filter(j => j >= 0);
    if (rows.length || columns.length) return { rows, columns };
    return only ? { rows: [x.rowIndex(picture)], columns: [] } : null;
  };

  const draw = () => {
    const stack = layers(), picture = stack[0].picture, { rows, columns } = picture, kind = x.state.kind, width = box.clientWidth, table = x.colours();
    if (!width) return;
    const small = phone(), most = Math.max(rows.length, columns.length), line = clamp((x.room(box) - 26 - (stack[0].colour ? 36 * Math.ceil(stack.length / 6) : 0)) / (most + .5), 13, 34), top = 26, height = top + line * (most + .5);
    const centre = (count, i) => top + line * (i + .75 + (most - count) / 2), label = small ? 96 : 190, left = label, right = width - (small ? 96 : 150), middle = (left + right) / 2;
    const root = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": t("Links of {head} as arcs", { head: stack.map(each => each.name).join(", ") }) });
    const wanted = focus(picture), now = x.rowIndex(picture), links = svgEl("g", { fill: "none" });
    for (const { picture: { z, masked }, colour } of stack) {
      const drawn = z.flatMap((values, i) => values.map((weight, j) => ({ weight, i, j })));
      const lit = ({ weight, i, j }) => weight >= FAINTEST && !masked(i, j) && (!wanted || wanted.rows.includes(i) || wanted.columns.includes(j));
      for (const { weight, i, j } of drawn.filter(lit).sort((a, b) => a.weight - b.weight)) {
        const y1 = centre(rows.length, i), y2 = centre(columns.length, j);
        const path = svgEl("path", { d: `M${left},${y1} C${middle},${y1} ${middle},${y2} ${right},${y2}`, stroke: colour || rgb(table[Math.round(256 * clamp(weight, 0, 1))]), "stroke-width": (.6 + 9 * weight * (line < 20 ? line / 20 : 1)).toFixed(2) });
        path.setAttribute("opacity", colour ? .25 + .6 * weight : i === now || wanted ? .95 : .6);
        links.append(path);
      }
    }
    root.append(links);
    const names = kind === "encoder" ? [t("query"), t("key")] : [labelsShown() === "reads" ? t("query (reads)") : labelsShown() === "predicts" || small ? t("predicts") : t("reads → predicts"), t("key")];
    root.append(svgEl("text", { x: left - 12, y: 12, "text-anchor": "end", class: "axis-name" }, names[0]), svgEl("text", { x: right + 12, y: 12, class: "axis-name" }, names[1]));
    const text = (group, i, count, side) => {
      const isRow = side === "rows", on = isRow && i === now;
      const node = svgEl("text", { x: isRow ? left - 12 : right + 12, y: centre(count, i) + 4.5, "text-anchor": isRow ? "end" : "start", class: "token" + (on ? " now" : "") + (group.special ? " special" : ""), "font-size": clamp(line - 4, 10, 14), "data-side": side, "data-i": i });
      node.textContent = isRow && kind !== "encoder" ? rowText(group, small) : cut(group.text, 16);
      return node;
    };
    rows.forEach((group, i) => root.append(text(group, i, rows.length, "rows")));
    columns.forEach((group, j) => root.append(text(group, j, columns.length, "columns")));
    box.replaceChildren(root);
    if (stack[0].colour) box.append(legend(stack));
    box.setAttribute("aria-label", root.getAttribute("aria-label"));
  };
  const labelsShown = () => x.state.labels;
  const rowText = (group, small) => {
    const which = small && labelsShown() === "both" ? "predicts" : labelsShown();
    return which === "both" ? `${cut(group.reads, 10)} → ${cut(group.predicts, 10)}` : cut(which === "reads" ? group.reads : group.predicts, 14);
  };
  const legend = stack => el("div", { class: "legend" }, ...stack.map(({ name, colour }, n) => el("button", { type: "button", class: "btn", title: t("Remove"), on: { click: () => x.overlay(...x.state.overlay[n]) } }, el("span", { class: "dot", style: `background:${colour}` }), name, " ×")));

  const over = event => {
    const node = event.target.closest && event.target.closest(".token");
    const next = node ? { rows: node.dataset.side === "rows" ? [+node.dataset.i] : [], columns: node.dataset.side === "columns" ? [+node.dataset.i] : [] } : null;
    if (JSON.stringify(next) === JSON.stringify(held)) return;
    held = next;
    draw();
    const picture = x.picture();
    if (held) x.say(sentence(picture, held)); else x.say(null);
  };
  const sentence = (picture, { rows, columns }) => {
    const row = rows.length ? rows[0] : 0, best = rows.length ? strongest(picture, row, 3) : [];
    if (rows.length) return tParts("{token} looks at {links}", { token: picture.rows[row].reads || picture.rows[row].text, links: best.map(link => `${link.text} ${two(link.weight)}`).join(", ") });
    const from = picture.z.map((values, i) => [values[columns[0]], i]).filter(([, i]) => !picture.masked(i, columns[0])).sort((a, b) => b[0] - a[0]).slice(0, 3);
    return tParts("{token} is looked at by {links}", { token: picture.columns[columns[0]].text, links: from.map(([weight, i]) => `${picture.rows[i].predicts || picture.rows[i].text} ${two(weight)}`).join(", ") });
  };
  box.addEventListener("mouseover", over);
  box.addEventListener("mouseleave", over);
  box.addEventListener("click", event => {
    const node = event.target.closest(".token");
    if (!node) return;
    const picture = x.picture(), i = +node.dataset.i;
    held = null;
    if (node.dataset.side === "columns") x.pin("columns", picture.columns[i].ids[0]);
    else if (event.shiftKey) x.pin("rows", picture.rows[i].ids[0]);
    else x.chooseRow(i);
  });
  box.addEventListener("keydown", event => {
    const move = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!move || !x.trace) return;
    event.preventDefault();
    event.stopPropagation();
    const picture = x.picture();
    x.chooseRow(clamp(x.rowIndex(picture) + move, 0, picture.rows.length - 1));
  });

  const paint = () => {
    box.hidden = x.state.view !== "arcs";
    if (!box.hidden) draw();
  };
  return { needs: ["trace", "kind", "map", "view", "step", "query", "colours", "labels", "unit", "specials", "pins", "overlay", "only", "language", "size"], paint, svg: () => box.querySelector("svg") };
};
