/* Any figure made in Python, shown with this page's settings: no cloud, no MathJax, our colours, dark mode. */

/** `say` turns a figure's words into the page's language: `t`, or a table of one's own before it. */
const mountPlot = (element, props, watch, say = t) => {
  const box = element.querySelector(".plot-view"), plot = box.querySelector(".plot"), note = box.querySelector("output");
  const draw = () => {
    if (!props.value || !window.Plotly || !box.clientWidth) return;
    const value = JSON.parse(props.value), figure = value.light;
    note.textContent = value.error ? tMessage(value.error) : "";
    plot.hidden = !!value.error;
    if (value.error) return;
    if (dark()) for (const [path, changed] of value.dark) path.slice(0, -1).reduce((node, name) => node[name], figure)[path.at(-1)] = changed;
    speakFigure(figure, say);
    const height = figure.layout.height || heightOf(figure), finger = touch();
    const layout = { ...figure.layout, autosize: true, font: { ...figure.layout.font, family: cssVar("--sans") }, height };
    if (finger) layout.dragmode = false;  // it scrolls the page
    if (phone() && layout.legend?.orientation !== "h") layout.legend = { ...layout.legend, orientation: "h", x: 0, y: -.2, yanchor: "top" };
    const bar = finger ? { modeBarButtons: [["toImage", svgButton()]] } : { modeBarButtonsToRemove: ["lasso2d", "select2d"], modeBarButtonsToAdd: [svgButton()] };
    Plotly.react(plot, figure.data, layout, { ...PLOT_CONFIG, responsive: true, displayModeBar: "hover", ...bar });
    plot.setAttribute("role", "figure");
    plot.setAttribute("aria-label", figure.layout.title?.text || titleOf(box));
  };
  const last = () => {  // an answer may have taken this one's place
    if (box.isConnected) return draw();
    for (const change of ["explorer-theme", "explorer-language"]) removeEventListener(change, last);
  };
  watch("value", draw);
  for (const change of ["explorer-theme", "explorer-language"]) addEventListener(change, last);
  whenPlotly(draw);
  new ResizeObserver(draw).observe(box);
};

/** The words right before a figure that say what it is: a heading, a caption, or the tab that is open. */
const titleOf = box => [...document.querySelectorAll("h2, h3, figcaption, [role=tab][aria-selected=true]")]
  .filter(each => each.offsetParent && each.textContent.trim() && each.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING).pop()?.textContent.trim() || "";

/** Plotly's own bar saves a PNG; this saves the same figure as SVG. */
const svgButton = () => ({ name: "svg", title: t("Download as SVG"), icon: { width: 16, height: 16, path: "M8 1v8M4.500 6 8 9.500 11.500 6M2 12v2.500h12V12h-1.500v1h-9v-1z M7.200 1h1.600v7h-1.600z" }, click: plot => Plotly.downloadImage(plot, { format: "svg", filename: "figure", width: plot.clientWidth, height: plot.clientHeight }) });

/** plotly.js is fetched while Gradio builds the page, which mostly waits for small files: its own first run fits in there. */
const loadPlotly = (tries = 5) => {
  const address = window.__explorerData?.plotly;  // an offline page holds it
  if (!address) return;
  const again = () => {
    script.remove();
    if (tries > 1) setTimeout(() => loadPlotly(tries - 1), 2000);
    else window.__explorer?.notice(t("What draws the maps did not arrive. Please reload the page."), true);
  };
  const script = el("script", { src: address, on: { load: () => dispatchEvent(new Event("explorer-plotly")), error: again } });
  document.head.append(script);
};
const whenPlotly = run => (window.Plotly ? run() : addEventListener("explorer-plotly", run, { once: true }));

/** Names, legends, axes and hover texts of a figure in the page's language; "sine, pair 3" is a word and a number. */
const speakFigure = ({ data, layout }, say) => {
  for (const each of data) {
    const [, word, number] = /^(.*?)(?:,? (?:pair )?(\d+))?$/.exec(each.name || "");
    if (word) each.name = say(word) + (number ? ` ${number}` : "");
    if (each.colorbar?.title?.text) each.colorbar.title.text = say(each.colorbar.title.text);
    if (each.hovertemplate) each.hovertemplate = each.hovertemplate.replace(/(%\{[^}]*\}|<[^>]*>)|[a-z]+(?: [a-z]+)*/gi, (words, mark) => mark || say(words));
  }
  for (const [name, axis] of Object.entries(layout)) if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.text = say(axis.title.text);
  const names = layout.yaxis?.ticktext, others = names?.indexOf("all others");
  if (others >= 0) names[others] = say("all others");
};

/** As high as a figure's tokens need, where it does not say. */
const heightOf = ({ layout }) => {
  const names = layout.yaxis?.ticktext;
  return names ? clamp(150 + 24 * names.length, 260, phone() ? 480 : 640) : 400;
};
