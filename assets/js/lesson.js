/* The lesson: twelve stations on the person's own sentence. Words and code come once, tensors a station at a time. */

const LESSON_TAB = "lesson-tab";
const stationInLink = () => new URLSearchParams(location.hash.slice(1)).get("lesson");

const mountLesson = (element, server) => {
  const box = element.querySelector(".lx"), find = selector => box.querySelector(selector);
  const state = { course: null, name: null, text: "", direction: "", options: {}, views: {}, answers: {}, done: new Set(JSON.parse(recall("lesson-done") || "[]")) };
  const figure = { value: null };
  let redraw = () => {}, asked = 0, timer = 0, latest = null, language = 0;

  /* ---- words: the lesson's own table first, then the page's ---- */
  const say = (english, values = {}) => {
    const own = (state.course && state.course.words[english]) || t(english);
    return own.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  };
  mountPlot(find(".shown"), figure, (_, draw) => { redraw = draw; }, say);
  const station = () => state.course.stations.find(each => each.name === state.name);
  const index = () => state.course.stations.indexOf(station());

  /* ---- what the server knows ---- */
  /** Words with d_model and d_head written as formulas write them. */
  const worded = text => text.split(/_(model|head)/).map((part, i) => (i % 2 ? el("sub", { text: part }) : part));

  /** The server went away: the call fails, or ends without a word. */
  const unanswered = () => ({ error: t("No answer from the server. Please try again."), again: true });
  const course = async () => {
    const number = ++language;
    let answer;
    try { answer = await server.course({ language: pageLanguage() }); } catch { /* said below */ }
    answer ||= unanswered();
    if (number !== language) return;
    if (answer.error) { box.lang = "en"; return refuse(answer); }
    state.course = answer;
    if (!station()) state.name = answer.stations[0].name;
    paint();
  };
  const load = (wait = 0) => {
    clearTimeout(timer);
    const number = ++asked, name = state.name;
    box.setAttribute("aria-busy", "true");
    if (!latest) find("output").textContent = say("The model is at work …");
    timer = setTimeout(async () => {
      let answer;
      try {
        answer = await server.station({ station: name, text: state.text, direction: state.direction, options: state.options[name] || {}, view: state.views[name] || "" });
      } catch { /* said below */ }
      answer ||= unanswered();
      if (number !== asked) return;
      box.removeAttribute("aria-busy");
      if (answer.error) return refuse(answer);
      latest = answer;
      if (state.course) show();  // the course may be the later answer of the two: it shows what it finds
    }, wait);
  };
  const refuse = ({ error, again }) => {
    const note = find(".notice");
    note.hidden = false;
    note.replaceChildren(tMessage(error), again ? " " : "");
    if (again) note.append(el("button", { type: "button", class: "btn", text: say("Try again"), on: { click: () => (state.course ? load() : course()) } }));
    latest = null;
    find(".frame").hidden = true;
    for (const part of [".views", ".turn", ".numbers", ".texts", ".tensor"]) find(part).replaceChildren();
    box.removeAttribute("aria-busy");
  };

  /* ---- the station: what does not depend on the sentence ---- */
  const paint = () => {
    const { stations } = state.course, now = station(), place = index();
    box.lang = LANGUAGES[pageLanguage()];
    box.querySelectorAll("[data-w]").forEach(node => { node.textContent = say(node.dataset.w); });
    find(".stations").setAttribute("aria-label", say("Stations"));
    find(".stations ol").replaceChildren(...stations.map((each, i) => el("li", {}, el("a", {
      href: "#lesson=" + each.name, "aria-current": each === now ? "step" : null, title: each.title,
      on: { click: event => { event.preventDefault(); open(each.name); } },
    }, el("i", { text: i + 1 }), el("span", { text: each.title }), ...(state.done.has(each.name) ? [Object.assign(icon(TICK), { ariaLabel: say("done") })] : [])))));
    const current = find("[aria-current=step]"), list = find(".stations ol");
    list.scrollLeft = current.offsetLeft - list.offsetLeft - list.clientWidth / 2 + current.clientWidth / 2;
    find(".where").textContent = say("Station {n} of {all}", { n: place + 1, all: stations.length });
    find("h1").textContent = now.title;
    find(".intro").replaceChildren(...worded(now.intro));
    find(".code").replaceChildren(...now.code.map(code));
    equation(place);
    quiz(now);
    const before = stations[place - 1], after = stations[place + 1];
    find(".back").hidden = !before;
    find(".next").hidden = !after;
    find(".back").textContent = before ? say("Back: {title}", before) : "";
    find(".next").textContent = after ? say("Next: {title}", after) : "";
    find(".link").textContent = say("Copy link");
    if (latest) show();
    else if (find(".notice").hidden) find("output").textContent = say("The model is at work …");
  };

  /** Gradio's Markdown has drawn every equation with the KaTeX that it brings; a copy stands here. */
  const equation = (place, tries = 0) => {
    const drawn = document.querySelectorAll("#lesson-equations .katex-display")[place];
    if (drawn) return find(".equation").replaceChildren(drawn.cloneNode(true));
    find(".equation").replaceChildren();
    if (tries < 100) setTimeout(() => { if (state.course && index() === place) equation(place, tries + 1); }, 100);
  };
  const code = ({ name, path, line, code: text }) => el("figure", {}, el("figcaption", {}, bold(name), el("span", { text: `${path}, ${say("line {n}", { n: line })}` })), el("pre", { tabindex: 0 }, el("code", {}, ...text.split("\n").map(sourceLine))));
  /** A line that is too long goes on below, indented further than it began; copied, it is the source again. */
  const sourceLine = (line, n, lines) => el("span", { style: `--indent:${line.search(/\S|$/)}` }, ...coloured(line + (n < lines.length - 1 ? "\n" : "")));
  const coloured = text => text.split(/(#.*$|"(?:[^"\\\n]|\\.)*"|\b(?:def|return|if|else|for|in|while|not|and|or|is|None|True|False|lambda|yield|raise)\b)/m).filter(Boolean).map(part =>
    (part[0] === "#" ? el("i", { text: part }) : /^[a-zA-Z]+$/.test(part) && KEYWORDS.has(part) ? el("b", { text: part }) : part));
  const KEYWORDS = new Set("def return if else for in while not and or is None True False lambda yield raise".split(" "));

  /* ---- the station: what was made of the sentence ---- */
  const show = () => {
    const { views, view, numbers, texts, controls } = latest, now = views.find(each => each.name === view);
    find(".notice").hidden = true;
    find(".frame").hidden = false;
    find(".views").hidden = views.length < 2;
    find(".views").replaceChildren(...views.map(each => el("button", { type: "button", "aria-pressed": String(each === now), text: say(each.name), on: { click: () => { state.views[state.name] = each.name; load(); } } })));
    find(".tensor").replaceChildren(el("code", { text: now.tensor }), ...(now.shape.length ? [el("span", { class: "shape", text: `[${now.shape.join(", ")}]` })] : []));
    figure.value = latest.figure;
    redraw();
    find(".plot").setAttribute("aria-label", `${station().title}: ${say(view)} ${now.tensor}`);
    turn(controls);
    const pairs = (table, make) => Object.entries(table).map(([name, value]) => el("div", {}, el("dt", {}, ...worded(say(name))), make(value)));
    find(".numbers").replaceChildren(...pairs(numbers, value => el("dd", { text: thousands(say(value)) })));
    const lang = languagesOf(state.direction)[1];
    find(".texts").replaceChildren(...pairs(texts, value => el("dd", { text: value || "∅", lang })));
  };

  const turn = controls => {
    const held = document.activeElement?.closest?.(".lx .turn [data-name]")?.dataset.name;
    const change = (name, value, wait = 0) => { state.options[state.name] = { ...state.options[state.name], [name]: value }; load(wait); };
    const make = control => {
      const { name, kind, value, choices, low, high, step } = control, id = "lesson-" + name, shown = el("output", { text: value });
      const label = el("label", { class: "cap", for: id }, ...worded(say(name)));
      if (kind === "choice" && choices.length <= 4) return el("div", { "data-name": name }, el("span", { class: "cap", text: say(name) }), el("div", { class: "seg", role: "group", "aria-label": say(name) }, ...choices.map(([key, text]) =>
        el("button", { type: "button", "aria-pressed": String(key === value), text: say(text), on: { click: () => change(name, key) } }))));
      if (kind === "choice") return el("div", { "data-name": name }, label, el("select", { id, class: "pick", on: { change: event => change(name, choices[event.target.selectedIndex][0]) } }, ...choices.map(([key, text]) => el("option", { selected: key === value, text: say(text) }))));
      const range = kind === "slider", field = el("input", { id, type: range ? "range" : "number", min: low, max: high, step, value });
      field.addEventListener(range ? "input" : "change", () => { shown.textContent = field.value; if (field.value !== "") change(name, Number(field.value), range ? 200 : 0); });
      return el("div", { "data-name": name }, label, field, ...(range ? [shown] : []));
    };
    if (held && same(controls)) return;  // a slider that is being drawn must not be replaced under the hand
    find(".turn").replaceChildren(...controls.map(make));
    turn.last = JSON.stringify([state.name, pageLanguage(), controls.map(({ value, ...rest }) => rest)]);
    if (held) find(`.turn [data-name="${held}"] :is(input, select, [aria-pressed=true])`)?.focus();
  };
  const same = controls => turn.last === JSON.stringify([state.name, pageLanguage(), controls.map(({ value, ...rest }) => rest)]) && document.activeElement.matches("input");

  /* ---- the question ---- */
  const quiz = now => {
    const given = state.answers[now.name] || {};
    find(".quiz h2").replaceChildren(...worded(now.ask));
    find(".answers").setAttribute("aria-label", now.ask);
    find(".answers").replaceChildren(...now.options.map((text, i) => el("label", { class: given.checked && i === now.right ? "right" : "" }, el("input", {
      type: "radio", name: "lesson-answer", value: i, checked: given.choice === i,
      on: { change: () => { state.answers[now.name] = { choice: i }; find(".why").replaceChildren(); } },
    }), el("span", {}, ...worded(text)), ...(given.checked && i === now.right ? [icon(TICK)] : []))));
    find(".why").replaceChildren(...(given.checked ? [bold(say(given.choice === now.right ? "Right." : "Not quite.")), " ", ...worded(now.why)] : []));
  };
  const check = () => {
    const now = station(), given = state.answers[now.name];
    if (!given) { find(".why").textContent = say("Choose an answer first."); return; }
    given.checked = true;
    finish(now.name);
    paint();
  };
  const finish = name => { state.done.add(name); remember("lesson-done", JSON.stringify([...state.done])); };

  /* ---- where one is ---- */
  const link = () => "#" + new URLSearchParams({ lesson: state.name, t: state.text, d: state.direction });
  const open = name => {
    if (!state.course?.stations.some(each => each.name === name)) return;
    state.name = name;
    latest = null;
    mark();
    paint();
    load();
    if (find(".station").getBoundingClientRect().top < 0) find(".station").scrollIntoView();
  };
  const mark = () => { if (box.clientWidth) history.replaceState(null, "", "#lesson=" + state.name); };
  const step = by => { finish(state.name); open(state.course.stations[index() + by].name); find(".station").focus({ preventScroll: true }); };

  /** The sentence is the page's: what stands in its field is read here, and what is typed here goes there. */
  const sentence = () => {
    const wish = stationInLink() && readPermalink(location.hash), way = wish ? wish.direction : direction();
    const example = ((window.__explorerData || {}).examples || []).find(each => each.direction === way);
    const text = (wish ? wish.text : field("source-text")?.value) || (example ? example.text : "");
    if (text === state.text && way === state.direction) return false;
    Object.assign(state, { text, direction: way });
    find("#lesson-text").value = text;
    find("#lesson-text").lang = languagesOf(way)[0] || "";
    return true;
  };
  find(".ask").addEventListener("submit", event => {
    event.preventDefault();
    state.text = find("#lesson-text").value;
    setField(field("source-text"), state.text);
    load();
  });
  find(".quiz").addEventListener("submit", event => { event.preventDefault(); check(); });
  find(".check").addEventListener("click", check);
  find(".back").addEventListener("click", () => step(-1));
  find(".next").addEventListener("click", () => step(1));
  find(".link").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(location.href.split("#")[0] + link()); find(".link").textContent = say("Copied"); } catch { history.replaceState(null, "", link()); }
  });
  addEventListener("hashchange", () => { const name = stationInLink(); if (name && name !== state.name && box.clientWidth) { sentence(); open(name); } });
  addEventListener("explorer-language", course);
  document.addEventListener("change", event => { if (event.target.closest("#direction")) setTimeout(() => { if (box.clientWidth && sentence()) load(); }, 400); });

  let visible = false;
  new ResizeObserver(() => {
    const now = box.clientWidth > 0;
    if (now === visible) return;
    visible = now;
    if (now) pageSettled.then(() => { if (!visible) return; const other = sentence(); mark(); if (other || !latest) load(); });
    else if (stationInLink()) history.replaceState(null, "", location.pathname + location.search);
  }).observe(box);
  state.name = stationInLink() || "tokens";
  course();
};

/** A link to a station opens its tab, as soon as Gradio has drawn the tabs; on a narrow page it may stand in their menu. */
const followLesson = (tries = 0) => {
  if (!stationInLink()) return;
  const names = ["Lesson", ...Object.values(tables()).map(table => table.Lesson)];
  const menu = [...document.querySelectorAll("#tabs .overflow-dropdown button")].find(button => names.includes(button.textContent.trim()));
  const tab = document.querySelector(`#tabs button[data-tab-id="${LESSON_TAB}"]`) || menu;
  if (tab) tab.click();
  if (tries < 100 && !document.querySelector(".lx")) setTimeout(() => followLesson(tries + 1), 100);
};
addEventListener("hashchange", () => followLesson());
followLesson();

window.AttentionExplorer.lesson = mountLesson;
