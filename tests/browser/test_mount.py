"""The explorer in a page of others: no Gradio, no server, several of them, and gone without a trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from benchmarks.webkit import PATIENCE
from translator.ui import frontend

pytestmark = pytest.mark.browser

SITE = "http://bare.example/"
HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A page of others</title>
<body><main><div id="one"></div><div id="two"></div></main></body></html>"""
MOUNT = """async ({ where, trace, options }) => {
    const { mount } = await import("/embed.js");
    window.handles ??= {};
    window.picks ??= {};
    const picks = (window.picks[where] = []);
    const words = { ...options, plotly: "/plotly.js", onPick: pick => picks.push(pick) };
    window.handles[where] = mount(document.getElementById(where), { trace, ...words });
}"""
WATCHED = (
    f"""
    const DRIVERS = {1000 * PATIENCE}; // milliseconds that WebKit's driver gives a script of its own
"""
    + """
    window.open = { listeners: new Set(), timers: new Set(), observers: new Set() };
    for (const target of [window, document]) {
        const add = target.addEventListener, remove = target.removeEventListener;
        target.addEventListener = function (type, run, options) {
            const key = [target === window, type, run], signal = options && options.signal;
            const entry = { type, run };
            window.open.listeners.add(entry);
            const gone = () => window.open.listeners.delete(entry);
            if (signal) signal.addEventListener("abort", gone);
            if (options && options.once) return add.call(target, type, event => { gone(); run(event); }, options);
            return add.call(target, type, run, options);
        };
        target.removeEventListener = function (type, run, options) {
            for (const entry of window.open.listeners)
                if (entry.type === type && entry.run === run) window.open.listeners.delete(entry);
            return remove.call(target, type, run, options);
        };
    }
    for (const [set, clear] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"],
                                ["requestAnimationFrame", "cancelAnimationFrame"],
                                ["requestIdleCallback", "cancelIdleCallback"]]) {
        const begin = window[set], end = window[clear];
        if (!begin) continue; // WebKit has no requestIdleCallback
        window[set] = (run, ...rest) => {
            if (rest[0] === DRIVERS) return begin.call(window, run, ...rest);
            const id = begin.call(window, (...seen) => {
                if (set !== "setInterval") window.open.timers.delete(set + id);
                run(...seen);
            }, ...rest);
            window.open.timers.add(set + id);
            return id;
        };
        window[clear] = id => { window.open.timers.delete(set + id); end.call(window, id); };
    }
    for (const name of ["ResizeObserver", "MutationObserver", "IntersectionObserver"]) {
        const Made = window[name];
        window[name] = class extends Made {
            observe(...rest) { window.open.observers.add(this); super.observe(...rest); }
            disconnect() { window.open.observers.delete(this); super.disconnect(); }
        };
    }
"""
)
STANDING = "() => Object.fromEntries(Object.entries(window.open).map(([name, set]) => [name, set.size]))"


@pytest.fixture
def bare_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A page of others; `init` runs before it."""
    contexts, faults = [], []
    files = {
        "": ("text/html", HTML),
        "embed.js": ("text/javascript", (frontend.STATIC / "embed.js").read_text(encoding="utf-8")),
        "plotly.js": ("text/javascript", frontend.PLOTLY_JS.read_text(encoding="utf-8")),
    }

    def serve(route: Route) -> None:
        kind, body = files.get(route.request.url.removeprefix(SITE), ("text/plain", ""))
        route.fulfill(content_type=kind, body=body)

    def opened(init: str = "", **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.route(SITE + "**", serve)
        if init:
            page.add_init_script(init)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(SITE)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults


def mount(page: Page, where: str, id_: str, **options: Any) -> None:
    """Put an explorer of a stored example into an element, and wait until its map is drawn."""
    page.evaluate(MOUNT, {"where": where, "trace": frontend.stored_example(id_), "options": options})
    page.locator(f"#{where} .detail .xtick").first.wait_for()


def test_an_explorer_works_in_a_page_of_others(bare_page: Callable[..., Page]) -> None:
    page = bare_page(color_scheme="light")
    mount(page, "one", "de-en-in-den")
    stored = frontend.stored_example("de-en-in-den")
    assert stored is not None
    box = page.locator("#one")
    expect(box.locator(".chips.src .chip")).to_have_count(len(stored["src"]))
    box.get_by_label("Head", exact=True).select_option(label="3")
    expect(box.locator(".detail")).to_have_attribute("aria-label", re.compile("H3"))
    box.locator(".chips.tgt .chip").nth(2).click()
    expect(box.locator(".stepout")).to_contain_text("Step 3 of")
    picks = page.evaluate("window.picks.one")
    assert picks[-1]["head"] == 2 and picks[-1]["step"] == 2 and picks[-1]["kind"] == "cross"
    expect(box.locator(".settings-toggle")).to_be_hidden()
    expect(box.get_by_text("Offline page")).to_be_hidden()


def test_two_on_a_page_do_not_disturb_each_other(bare_page: Callable[..., Page]) -> None:
    page = bare_page()
    tables = frontend.locales()
    mount(page, "one", "de-en-in-den", theme="light", language="de", tables=tables)
    mount(page, "two", "en-zh-tired", theme="dark", language="en", tables=tables)
    one, two = page.locator("#one"), page.locator("#two")
    before = two.locator(".detail").get_attribute("aria-label")
    one.get_by_role("button", name="Encoder", exact=True).click()
    expect(one.get_by_role("button", name="Encoder", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(two.get_by_role("button", name="Cross", exact=True)).to_have_attribute("aria-pressed", "true")
    assert two.locator(".detail").get_attribute("aria-label") == before
    assert one.get_by_text("Schritt", exact=True).count() and two.get_by_text("Step", exact=True).count()
    papers = [part.locator(".ax").evaluate("node => getComputedStyle(node).color") for part in (one, two)]
    assert papers[0] != papers[1]
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
    assert len(ids) == len(set(ids))
    two.locator(".stepout").click()
    steps = [part.locator(".stepout").inner_text() for part in (one, two)]
    page.keyboard.press("ArrowRight")
    expect(two.locator(".stepout")).not_to_have_text(steps[1])
    assert one.locator(".stepout").inner_text() == steps[0]
    page.evaluate("window.handles.two.destroy()")
    one.get_by_role("button", name="Decoder", exact=True).click()
    expect(one.get_by_role("button", name="Decoder", exact=True)).to_have_attribute("aria-pressed", "true")


def test_language_and_theme_change_at_any_time(bare_page: Callable[..., Page]) -> None:
    page = bare_page()
    mount(page, "one", "de-en-in-den", theme="light", language="en", tables=frontend.locales())
    page.evaluate("window.handles.one.setLanguage('zh')")
    table = frontend.locales()["zh"]
    expect(page.get_by_role("button", name=table["Encoder"], exact=True)).to_be_visible()
    light = page.locator("#one .chip").first.evaluate("node => getComputedStyle(node).color")
    page.evaluate("window.handles.one.setTheme('dark')")
    expect(page.locator("#one .attention-explorer.dark")).to_have_count(1)
    assert page.locator("#one .legend, #one .muted").first.evaluate("n => getComputedStyle(n).color") != light


def test_nothing_is_left_behind(bare_page: Callable[..., Page]) -> None:
    page = bare_page(init=WATCHED)
    left = []
    for _ in range(2):  # what is fetched once, and the browser's driver, leave something the first time alone
        mount(page, "one", "de-en-in-den")
        page.get_by_role("button", name="Play").click()
        page.get_by_label("Head", exact=True).select_option(label="3")
        page.locator("#one .detail").hover()
        assert page.evaluate(STANDING)["observers"]
        page.evaluate("window.handles.one.destroy()")
        page.wait_for_function("() => !window.open.timers.size")
        left.append((page.content(), page.evaluate(STANDING)))
    assert left[0] == left[1]
    assert "attention-explorer" not in left[0][0].partition("</head>")[0]
