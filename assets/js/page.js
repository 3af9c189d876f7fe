/* The explorer in its page: the server's messages, the fields around it, examples, links, language, theme. */

const IDLE_AFTER = 45000, PULSE = 3000;  // ms without a message: the page gives up; asks whether the server is still there

const DOUBLE_CLICK = 400;  // ms
const ENTER = { "source-text": "translate", "compare-a": "compare-run", "compare-b": "compare-run" };  // what it presses, with Ctrl or without

const field = id => document.querySelector(`#${id} textarea, #${id} input:not([type=radio])`);
const setField = (node, value) => {
  if (!node || node.value === value) return;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), "value").set.call(node, value);
  node.dispatchEvent(new Event("input", { bubbles: true }));
};
const direction = () => { const chosen = document.querySelector("#direction input:checked"); return chosen ? chosen.value : window.__explorerData?.directions[0]; };
const setDirection = value => { const radio = document.querySelector(`#direction input[value="${value}"]`); if (radio && !radio.checked) radio.click(); };

/** Resolves when the fields hold what the address or the first example says: before, they must not be read. */
let settle;
const pageSettled = new Promise(done => { settle = done; });

/** Safari before 26.2 leaves a field as tall as it was: a field's own height, for page.css, whenever its text or its width may have changed. */
const FITTED = ["source-text", "translation", "compare-a", "compare-b"];
const fitFields = () => {
  if (CSS.supports("field-sizing", "content")) return;
  document.body.classList.add("fit");
  const fit = node => {
    if (!node.clientWidth) return;
    node.style.flex = "none";  // the row would stretch it
    node.style.setProperty("--fit", "0");
    node.style.setProperty("--fit", node.scrollHeight + 2 + "px");  // and its borders
    node.style.flex = "";
  };
  const seen = new ResizeObserver(changes => requestAnimationFrame(() => changes.forEach(({ target }) => fit(target))));
  document.addEventListener("input", ({ target }) => {
    if (!FITTED.some(id => target.closest("#" + id))) return;
    fit(target);
    seen.observe(target);
  });
  pageSettled.then(() => FITTED.map(field).forEach(node => node && seen.observe(node)));
};

/** Nobody answers at this page's own address, or a proxy says that nobody does. */
const serverGone = async () => {
  try { return [502, 504].includes((await fetch(location.pathname, { method: "HEAD", cache: "no-store" })).status); } catch { return true; }
};

const mountExplorer = (element, props, watch, server) => {
  const x = new Explorer(element, server), data = window.__explorerData || { examples: [], address: "" };
  window.__explorer = x;
  const asked = new URLSearchParams(location.search).get("direction");
  let timer = 0, pulse = 0, last = null, run = 0;  // the number of what was asked for last; answers name theirs
  mountExplorer.run = () => run;

  const busy = on => {
    document.body.classList.toggle("busy", on);
    clearTimeout(timer);
    clearInterval(pulse);
    if (!on) return;
    const lost = () => { busy(false); run++; x.restore(); x.notice(t("No answer from the server. Please try again."), true); };
    timer = setTimeout(lost, IDLE_AFTER);
    const mine = pulse = setInterval(async () => { if (await serverGone() && mine === pulse) lost(); }, PULSE);
  };
  const isBusy = () => document.body.classList.contains("busy");
  const unread = () => ({ kind: "error", run, text: t("The answer could not be read. Please try again.") });
  const receive = async () => {
    if (!props.value || props.value === last) return;
    const value = last = props.value;
    let message = messageOf(value);
    if (message instanceof Promise) message = await message.catch(unread);  // a short one is shown at once, in the order of arrival
    if (value !== last) return;
    if (message.kind === "example") return x.wanted ? null : open((data.directions.includes(asked) && first(asked) || message).id, true);
    if (message.kind === "empty") { busy(false); return x.empty(t(message.text)); }
    if (message.run !== run) return;  // it was stopped, or something else asked for since
    if (message.kind === "step") { busy(true); x.notice(""); setField(field("translation"), message.translation); return x.stream(message); }
    busy(false);
    if (message.kind === "error") { goBack(); return x.notice(tMessage(message.text), true); }
    if (message.kind === "trace") { x.notice(""); x.show(message); announce(message); }
  };
  /** To the last translation that is whole. */
  const goBack = () => {
    x.restore();
    if (x.payload) setField(field("translation"), x.payload.translation);
    if (!x.trace) x.empty(t("Nothing translated yet."));
  };
  const announce = trace => {
    setField(field("translation"), trace.translation);
    const area = field("translation");
    if (area) area.lang = LANGUAGES[trace.checkpoint.tgt];
    settingsLabel();
    examples();
  };

  /* ---- examples: stored translations, no model needed ---- */
  let opening = 0, meant = "", settled = false;  // two may be on their way at once: the later one is meant
  const open = async (id, byItself = false) => {
    const example = data.examples.find(each => each.id === id), number = ++opening;
    if (!example) return;
    if (isBusy()) document.querySelector("#stop").click();
    meant = id;
    ask(example);
    try {
      const answer = await fetch(data.address + id + ".json");
      if (!answer.ok) throw new Error(String(answer.status));
      const payload = await answer.json();
      if (number !== opening) return;
      busy(false);
      if (!byItself) x.notice("");  // it may say that the address asked for what is not here
      x.show(payload);
      announce(payload);
    } catch {
      if (number !== opening) return;
      if (!x.trace) x.empty(t("This example has not been stored; press Translate to make it."));
    }
  };
  /** Put an example's sentence and direction into the fields; until the page has filled them itself, only the sentence. */
  const ask = example => {
    setField(field("source-text"), example.text);
    if (settled) setDirection(example.direction);
  };
  const whole = new IntersectionObserver(pills => {  // what has no room cannot have the focus either
    for (const { target, intersectionRatio } of pills) target.style.visibility = intersectionRatio > .95 ? "" : "hidden";
  }, { root: x.find(".examples"), threshold: .95 });
  const shown = { block: "nearest", inline: "nearest" };  // a browser leaves what it sees a corner of
  x.find(".try").addEventListener("focusin", event => event.target.scrollIntoView(shown));
  const others = x.find(".more-examples");  // all of them by their text: few have a name, and not every name finds room
  const examples = () => {
    const mine = data.examples.filter(each => each.direction === direction());
    x.find(".examples").replaceChildren(...mine.filter(each => each.name).map(each => el("button", { type: "button", class: "btn", title: each.text, text: t(each.name), on: { click: () => open(each.id) } })));
    whole.disconnect();
    for (const pill of x.find(".examples").children) whole.observe(pill);
    others.replaceChildren(el("option", { value: "", text: t("More examples") }), ...mine.map(each => el("option", { value: each.id, text: each.text })));
    others.hidden = others.options.length < 2;
  };
  others.addEventListener("change", () => { open(others.value); others.value = ""; });
  const first = which => data.examples.find(each => each.direction === which);
  document.addEventListener("change", event => {
    if (!settled || !event.target.closest("#direction")) return;
    examples();
    loading();
    if (data.examples.some(each => each.id === meant && each.direction === direction() && each.text === field("source-text")?.value)) return;
    const text = (field("source-text")?.value || "").trim(), other = first(direction());
    if (other && (!text || data.examples.some(each => each.text === text && each.direction !== direction()))) open(other.id);
    else inspect();
  });

  /* ---- the field: busy from the press on, stop, and what the server makes of the text while it is typed ---- */
  let pressed = 0;
  document.addEventListener("click", event => {
    if (event.target.closest("#translate")) { x.notice(""); busy(true); run++; opening++; pressed = event.timeStamp; }
    if (!event.target.closest("#stop")) return;
    if (event.isTrusted && event.timeStamp - pressed < DOUBLE_CLICK) event.stopImmediatePropagation();  // meant Translate, in whose place Stop has come
    else { busy(false); run++; goBack(); x.notice(t("Stopped.")); }
  }, true);
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && isBusy()) document.querySelector("#stop")?.click();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;  // 229: Safari, as a composition ends
    const asked = Object.keys(ENTER).find(id => event.target.closest(`#${id}`));
    if (!asked) return;
    event.preventDefault();
    if (isBusy()) document.querySelector("#stop").click();  // of the text as it was
    document.querySelector(`#${ENTER[asked]}`).click();
  }, true);
  let waiting = 0, inspected = 0;
  const translated = (text, way) => x.trace && !x.trace.live && text === x.trace.source && way === x.trace.direction;
  const inspect = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const text = field("source-text")?.value || "", number = ++inspected, way = direction();
      if (translated(text, way)) return x.health.show(x.trace);
      if (!server || !text) return;
      try {
        const facts = await server.inspect({ text, direction: way });
        if (number === inspected && !translated(text, way)) x.health.facts(facts, languagesOf(way)[0]);
      } catch { /* the strip keeps what it last knew */ }
    }, 250);
  };
  document.addEventListener("input", event => { if (event.target.closest("#source-text") && event.isTrusted) inspect(); });

  /* ---- the model loads behind the page: say so until it is there, and say why if it will not come ---- */
  let polling = 0, since = 0, told = "";
  const loading = async () => {
    clearTimeout(polling);
    const way = direction();
    let state = "";
    try { state = server ? (await server.ready({ direction: way })).state : "ready"; } catch { /* asked again below */ }
    if (way !== direction()) return;
    const present = x.find(".notice").textContent, mine = !present || present === told;
    if (state === "ready") { since = 0; if (told && mine) x.notice(""); told = ""; return; }
    since = since || performance.now();
    const waits = state === "" || state === "loading", seconds = Math.round((performance.now() - since) / 1000);
    if (mine && (!waits || seconds >= 1)) {
      told = waits ? t("The model {name} is loading ({n} s). What is shown can be explored; Translate waits for it.", { name: way, n: seconds }) : tMessage(state);
      x.notice(told, !waits);
    }
    if (waits) polling = setTimeout(loading, 1000);
  };
  addEventListener("explorer-language", loading);

  /* ---- settings, folded away ---- */
  const toggle = x.find(".settings-toggle"), sheet = document.querySelector("#settings");
  if (sheet) x.find(".under").after(sheet);  // right below its button, for the eye and for Tab
  const settingsLabel = () => {
    const decoding = x.trace && !x.trace.live ? settingsText(x.trace.settings) : t("automatic");
    toggle.replaceChildren(icon("M6 4l4 4-4 4"), t("Settings"), el("span", { class: "muted no-phone", text: decoding }));
  };
  toggle.addEventListener("click", () => {
    const open = document.body.classList.toggle("settings-open");
    toggle.setAttribute("aria-expanded", String(open));
    x.set({ size: {} });
  });

  /* ---- radios: Gradio names each apart, so that no browser sees a group in them; arrows choose the neighbour ---- */
  document.addEventListener("keydown", event => {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key], group = by && event.target.closest(":is(#direction, .segments):has(:focus)");
    if (!group || event.target.type !== "radio") return;
    const radios = [...group.querySelectorAll("input[type=radio]")], next = radios.at((radios.indexOf(event.target) + by) % radios.length);
    event.preventDefault();
    next.focus();
    next.click();
  });

  /* ---- links: one that is put into an open page's address is followed like one that opens it ---- */
  let pending = false;
  const link = readPermalink(location.hash);
  if (link) link.direction ||= asked || data.directions[0];
  const linked = link && data.directions.includes(link.direction) ? link : null;
  addEventListener("hashchange", () => { if (readPermalink(location.hash)) location.reload(); });
  const opened = current => {
    settled = true;
    if (!linked) {
      const way = link ? link.direction : asked;
      const known = data.directions.includes(way), which = known ? way : current[1];
      if (way && !known) x.notice(t("There is no direction {name}; this page translates {known}.", { name: way.slice(0, 20), known: data.directions.join(", ") }), true);
      const example = first(which);
      if (example && which !== current[1] && meant !== example.id) setTimeout(() => open(example.id, true), 0);
      return [example ? example.text : current[0], which, ...current.slice(2)];
    }
    const { text, direction: way, settings } = linked, names = data.settings;
    const stored = data.examples.find(each => each.text === text && each.direction === way);
    if (stored && !Object.keys(settings).length) setTimeout(() => open(stored.id, true), 0);
    else pending = true;
    return [text, way, ...current.slice(2).map((value, i) => (names[i] in settings ? settings[names[i]] : value))];
  };
  mountExplorer.opened = current => {
    const fields = opened(current);
    mountExplorer.go = async () => {
      for (let tries = 0; tries < 100 && direction() !== fields[1]; tries++) await new Promise(done => setTimeout(done, 20));  // Gradio fills them when it has time
      settle();
      examples();
      loading();
      if (!pending) return;
      pending = false;
      document.querySelector("#translate").click();
    };
    return fields;
  };

  addEventListener("explorer-language", () => { examples(); settingsLabel(); });
  examples();
  settingsLabel();
  x.wanted = linked;
  watch("value", receive);
  receive();
};

/* ---- language and theme of the whole page ---- */
const spoken = new WeakMap();
/** Put the page's words, Gradio's included, in the page's language; `translate="no"` marks what is not ours to translate. */
const speakPage = (root = document.body) => {
  const table = tables()[pageLanguage()] || {}, skip = "script,style,textarea,[translate=no],.plot";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, original = spoken.get(node);
    const inside = node.parentElement?.closest("#settings, .ax");  // the explorer speaks by itself, the settings in it do not
    if (!node.parentElement || node.parentElement.closest(skip) || inside?.matches(".ax")) continue;
    const english = original && (original.now === node.data) ? original.english : node.data, key = english.trim();
    if (!key || !(key in (tables().zh || {}))) continue;
    const now = english.replace(key, () => table[key] || key);
    if (node.data !== now) node.data = now;
    spoken.set(node, { english, now });
  }
  document.documentElement.lang = LANGUAGES[pageLanguage()];
  for (const node of document.querySelectorAll("[data-english-label]")) node.setAttribute("aria-label", t(node.dataset.englishLabel));
};
const setLanguage = name => { remember("language", name); speakPage(); dispatchEvent(new Event("explorer-language")); };

const mountChrome = element => {
  const box = element.querySelector(".chrome"), languages = box.querySelectorAll("[data-language]"), theme = box.querySelector(".theme");
  const paint = () => {
    languages.forEach(button => button.setAttribute("aria-pressed", String(button.dataset.language === pageLanguage())));
    theme.setAttribute("aria-label", t("Dark mode"));
    theme.setAttribute("aria-pressed", String(dark()));
  };
  languages.forEach(button => button.addEventListener("click", () => { setLanguage(button.dataset.language); paint(); }));
  theme.addEventListener("click", () => { document.body.classList.toggle("dark"); remember("theme", dark() ? "dark" : "light"); paint(); });
  let was = dark();
  new MutationObserver(() => { if (dark() !== was) { was = dark(); paint(); dispatchEvent(new Event("explorer-theme")); } }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  const stored = recall("theme");
  if (stored && (stored === "dark") !== dark()) document.body.classList.toggle("dark", stored === "dark");
  let queued = 0;
  new MutationObserver(() => { if (!queued) queued = requestAnimationFrame(() => { queued = 0; if (pageLanguage() !== "en") speakPage(); }); }).observe(document.body, { childList: true, subtree: true });
  for (const [id, label] of [["source-text", "Sentence to translate"], ["translation", "Translation"]]) {
    const node = field(id);
    if (node) { node.dataset.englishLabel = label; node.spellcheck = false; }
  }
  fitFields();
  speakPage();
  paint();
};
