/* What every part uses: elements, words in three languages, colours, numbers. */

const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (value !== null && value !== undefined && (value !== false || name.startsWith("aria"))) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};

const svgEl = (tag, attributes = {}, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
};

const bold = text => el("b", { text });
const phone = () => innerWidth <= 640;
const touch = () => matchMedia("(pointer: coarse)").matches;
const dark = () => document.body.classList.contains("dark");
const cssVar = name => getComputedStyle(document.body).getPropertyValue(name).trim();
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const remember = (key, value) => { try { localStorage.setItem("explorer-" + key, value); } catch { /* storage is off */ } };
const recall = key => { try { return localStorage.getItem("explorer-" + key); } catch { return null; } };

/* ---- words: the English sentence is the key; a table a language gives the others ---- */
const LANGUAGES = { en: "en", zh: "zh-Hans", de: "de" };
/** Source and target language of a direction, or of a checkpoint whose name ends in them, such as opus-mt-de-en. */
const languagesOf = direction => (/(?:^|-)([a-z]{2,3})-([a-z]{2,3})$/.exec(direction) || []).slice(1).map(each => LANGUAGES[each] || each);
const tables = () => window.__explorerLocales || {};
const pageLanguage = () => {
  const stored = recall("language") || (navigator.language || "en").slice(0, 2);
  return stored in LANGUAGES ? stored : "en";
};
const t = (english, values = {}) => {
  const table = tables()[pageLanguage()] || {};
  return (table[english] || english).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
};

/** `t` whose {holes} are bold elements: the sentence stays one, whatever the order of its words. */
const tParts = (english, values) => {
  const table = tables()[pageLanguage()] || {};
  return (table[english] || english).split(/(\{\w+\})/).filter(Boolean).map(part => {
    const name = part.slice(1, -1);
    return part[0] === "{" && name in values ? (values[name] instanceof Node ? values[name] : bold(values[name])) : part;
  });
};

/** A sentence from the server, matched against the tables' sentences with {holes}; an unknown one stays English. */
const tMessage = text => {
  const table = tables()[pageLanguage()] || {};
  if (table[text]) return table[text];
  for (const english of Object.keys(table)) {
    const names = [...english.matchAll(/\{(\w+)\}/g)].map(found => found[1]);
    if (!names.length) continue;
    const match = new RegExp("^" + english.split(/\{\w+\}/).map(part => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("(.+?)") + "$").exec(text);
    if (match && english.replace(/\{\w+\}/g, "").trim().length > 12) return t(english, Object.fromEntries(names.map((name, i) => [name, thousands(match[i + 1])])));
  }
  return text;
};

/* ---- colour: zero is the page in both themes, lightness is monotone ---- */
const SCALES = {
  house: {
    light: [[0, "#f8f8f4"], [.1, "#e4eed4"], [.25, "#b9deba"], [.4, "#7bc7a7"], [.55, "#3fa69b"], [.7, "#26808e"], [.82, "#345f8d"], [.92, "#433e85"], [1, "#440154"]],
    dark: [[0, "#1c1e23"], [.1, "#2b2945"], [.25, "#41417f"], [.4, "#2f6b8e"], [.55, "#21908d"], [.7, "#2fb37c"], [.82, "#6ccd5a"], [.92, "#b8de2a"], [1, "#fde725"]],
  },
  viridis: [[0, "#440154"], [.125, "#482878"], [.25, "#3e4989"], [.375, "#31688e"], [.5, "#26828e"], [.625, "#1f9e89"], [.75, "#35b779"], [.875, "#6ece58"], [.9375, "#b5de2b"], [1, "#fde725"]],
  cividis: [[0, "#00224e"], [.125, "#123570"], [.25, "#3b496c"], [.375, "#575d6d"], [.5, "#707173"], [.625, "#8a8678"], [.75, "#a59c74"], [.875, "#c3b369"], [1, "#fee838"]],
  difference: {
    light: [[0, "#40004b"], [.15, "#762a83"], [.3, "#9970ab"], [.42, "#d9c6e2"], [.5, "#f7f7f4"], [.58, "#d5ecd0"], [.7, "#7fbf7b"], [.85, "#1b7837"], [1, "#00441b"]],
    dark: [[0, "#e2b8f2"], [.15, "#c38bd6"], [.3, "#8d5aa3"], [.42, "#4a2f57"], [.5, "#202227"], [.58, "#213f2b"], [.7, "#2f7a49"], [.85, "#63b877"], [1, "#b5e8b9"]],
  },
};
const HEAD_COLOURS = ["#0072b2", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7a5195", "#4d7c0f", "#6b7280"];

const stops = (palette = "house", theme = dark() ? "dark" : "light") => SCALES[palette][theme] || SCALES[palette];
const toRgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const ramp = (points, x) => {
  const at = clamp(x, 0, 1);
  let i = 1;
  while (i < points.length - 1 && at > points[i][0]) i++;
  const [a, from] = points[i - 1], [b, to] = points[i], share = (at - a) / (b - a), start = toRgb(from);
  return toRgb(to).map((value, k) => Math.round(start[k] + (value - start[k]) * share));
};
const rgb = colour => `rgb(${colour.join(",")})`;

/** 256 colours of one scale, looked up by weight; the square root is taken here, never in the numbers. */
const lookup = (palette, root, theme) => {
  const points = stops(palette, theme), table = new Array(257);
  for (let i = 0; i <= 256; i++) table[i] = ramp(points, root ? Math.sqrt(i / 256) : i / 256);
  return table;
};
const luminance = colour => {
  const [r, g, b] = colour.map(v => ((v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4));
  return .2126 * r + .7152 * g + .0722 * b;
};
const inkOn = colour => (luminance(colour) > .18 ? "#000000" : "#ffffff");
const paintBar = (canvas, colour) => {
  const context = canvas.getContext("2d");
  for (let i = 0; i < canvas.width; i++) { context.fillStyle = rgb(colour(i / (canvas.width - 1))); context.fillRect(i, 0, 1, canvas.height); }
};

const whenIdle = run => (window.requestIdleCallback ? requestIdleCallback(run, { timeout: 2000 }) : setTimeout(run, 200));

/* ---- numbers and tokens ---- */
/** Thousands stand apart in German: a comma there would be read as the decimal mark, a point here is it. */
const thousands = text => (pageLanguage() === "de" ? text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, "\u202f") : text);
const two = value => (value > 0 && value < .005 ? "<.01" : value.toFixed(2));
const percent = share => Math.round(100 * share) + "%";

const cut = (text, length = 12) => { const letters = [...text]; return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : text; };
const escapeHtml = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const icon = path => {
  const node = svgEl("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  node.append(svgEl("path", { d: path }));
  return node;
};
const TICK = "M3 8.5l3.2 3.2L13 4.6";
