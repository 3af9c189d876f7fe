"""A server that ends under an open page and is started again as its own process: what was typed is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.served import App
from benchmarks.shown import shown, wait_translated

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE = 60_000
SHOWN, TYPED = "Der Hund schläft im Garten.", "Wir sind da."


@pytest.fixture
def apps() -> Iterator[list[App]]:
    started = [App()]
    yield started
    for app in started:
        app.close()


@pytest.fixture
def page(apps: list[App], browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="de-DE")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(apps[0].url)
    page.wait_for_selector("#attention-detail .xtick")
    yield page
    context.close()


def type_sentence(page: Page, text: str) -> None:
    page.click("#source-text textarea")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def test_a_restarted_server_is_found_again_and_what_was_typed_is_kept(apps: list[App], page: Page) -> None:
    type_sentence(page, SHOWN)
    page.keyboard.press("Enter")
    wait_translated(page, SHOWN)
    type_sentence(page, TYPED)
    page.wait_for_function(f"history.state.typed === '{TYPED}'")

    apps[0].kill()
    page.keyboard.press("Enter")
    toast = page.locator(".toast-body")
    expect(toast).to_contain_text("Der Server antwortet nicht.", timeout=PATIENCE)
    expect(toast).not_to_contain_text(re.compile("Error|Connection"))
    expect(toast.get_by_role("button", name="Schließen", exact=True)).to_be_visible()
    box, height = toast.bounding_box(), page.evaluate("innerHeight")
    assert box and box["y"] > 0.6 * height, "it hides neither the field nor the result"
    expect(page.locator(".notice.error")).to_be_visible(timeout=PATIENCE)  # of the press, once nobody answers
    assert page.input_value("#source-text textarea") == TYPED

    with page.expect_navigation(timeout=PATIENCE):  # by itself
        apps.append(App(port=apps[0].port))
    wait_translated(page, SHOWN)
    expect(page.locator("#source-text textarea")).to_have_value(TYPED)
    expect(page.locator(".toast-body")).to_have_count(0)
    page.click("#translate")
    wait_translated(page, TYPED)
    assert shown(page)["translation"] != "" and page.input_value("#source-text textarea") == TYPED
