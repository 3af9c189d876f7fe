"""The served page's switch "Compute here": the same translations on the visitor's machine, no request for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.shown import trace, wait_translated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
TEXT, OTHER = "Das Haus ist alt.", "Wir gehen heute in den Park."
DIRECTION = "?direction=de-en"


def translated(page: Page, text: str) -> dict[str, Any]:
    """Type a sentence, press Translate, and wait for its whole translation; "asked": the requests that carry it."""
    posts = calls(page)
    page.fill("#source-text textarea", text)
    page.click("#translate")
    wait_translated(page, text)
    joined = [each for each in posts if text in each]
    return {**trace(page), "asked": joined, "field": page.input_value("#translation textarea")}


def switch(page: Page) -> None:
    if not page.is_visible("#compute-here"):
        page.click(".settings-toggle")
    page.click("#compute-here")


def calls(page: Page) -> list[str]:
    """Bodies of the requests that ask for something, from now on."""
    asked: list[str] = []
    page.on("request", lambda each: each.method == "POST" and asked.append(str(each.post_data)))
    return asked


def test_it_translates_as_the_server_does_and_asks_it_for_nothing(open_page: Callable[..., Page]) -> None:
    page = open_page(DIRECTION)
    by_server = translated(page, TEXT)
    switch(page)
    page.wait_for_selector(".weights[data-state=here]")
    asked = calls(page)
    translated(page, OTHER)
    here = translated(page, TEXT)
    assert by_server["asked"] and not here["asked"]
    assert here["translation"] == here["field"] == by_server["translation"]
    assert here["settings"] == by_server["settings"]
    for kind, values in ((kind, by_server[kind]) for kind in ("encoder", "decoder", "cross")):
        np.testing.assert_allclose(np.array(here[kind]), np.array(values), atol=2 / 65535, rtol=0)
    with page.expect_download() as download:
        page.click(".export button:has-text('NPZ')")
    assert download.value.suggested_filename.endswith(".npz")
    assert not [each for each in asked if "Haus" in each or "Park" in each]
    switch(page)
    assert translated(page, OTHER)["asked"]


def test_the_choice_is_kept_and_settings_are_followed(open_page: Callable[..., Page]) -> None:
    page = open_page(DIRECTION)
    switch(page)
    page.wait_for_selector(".weights[data-state=here]")
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    asked = calls(page)
    page.click(".settings-toggle")
    expect(page.locator("#compute-here")).to_be_checked()
    page.click("#method label:has-text('beam')")
    page.fill("#setting-beam input[type=number]", "3")
    page.fill("#setting-length_penalty textarea, #setting-length_penalty input", "0,7")
    settings = translated(page, TEXT)["settings"]
    assert (settings["method"], settings["beam"], settings["length_penalty"]) == ("beam", 3, 0.7)
    assert not [each for each in asked if "Haus" in each]


def test_damaged_weights_are_refused(open_page: Callable[..., Page]) -> None:
    def damage(route: Route) -> None:
        answer = route.fetch()
        body = answer.body()
        route.fulfill(response=answer, body=body[:-1] + bytes([body[-1] ^ 1]))

    page = open_page(DIRECTION, routes={"**/tgt.json": damage})
    switch(page)
    page.wait_for_selector(".weights[data-state=failed] :text('tgt.json is damaged')")
    asked = calls(page)
    page.fill("#source-text textarea", TEXT)
    page.click("#translate")
    page.wait_for_selector(".notice.error:has-text('is damaged')")
    assert not [each for each in asked if "Haus" in each]  # it was to stay here


def test_without_simd_the_server_goes_on(open_page: Callable[..., Page]) -> None:
    page = open_page(DIRECTION, init="delete globalThis.WebAssembly;")
    page.click(".settings-toggle")
    expect(page.locator("#compute-here")).to_be_disabled()
    expect(page.locator(".compute-here")).to_contain_text("no WebAssembly SIMD", use_inner_text=True)
    assert translated(page, TEXT)["asked"]


def test_a_checkpoint_that_no_browser_computes_is_left_to_the_server(open_page: Callable[..., Page]) -> None:
    def refuse(route: Route) -> None:
        if '"local"' in str(route.request.post_data):
            route.fulfill(json={"uncovered": "its sentencepiece"})
        else:
            route.continue_()

    page = open_page(DIRECTION, routes={"**/component_server/**": refuse})
    switch(page)
    page.wait_for_selector(".compute-here:has-text('cannot be computed in a browser')")
    assert translated(page, TEXT)["asked"]


def test_it_can_be_stopped(open_page: Callable[..., Page]) -> None:
    page = open_page(DIRECTION, routes={"**/model.safetensors": lambda route: None})
    switch(page)
    page.fill("#source-text textarea", TEXT)
    page.click("#translate")
    page.wait_for_selector(".notice:has-text('Fetching the model')")
    page.keyboard.press("Escape")
    page.wait_for_selector(".notice:has-text('Stopped.')")
    page.wait_for_function("!document.body.classList.contains('busy')")
