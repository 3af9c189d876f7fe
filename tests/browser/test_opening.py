"""What the page fetches as it opens, and what it does when that fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from benchmarks.opening import DESK, opening
from translator.figures.style import Theme, signed_scale

pytestmark = pytest.mark.browser


def test_plotly_comes_once_and_before_anything_asks_for_it(open_page: Callable[..., Page]) -> None:
    """The browser takes what the page's header named; an address spelt otherwise would be fetched twice."""
    page = open_page()
    fetched: list[Request] = []
    page.on("request", lambda request: fetched.append(request))
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    addresses = [request.url for request in fetched]
    named = [address for address in addresses if "plotly" in address]
    assert len(named) == 1
    assert addresses.index(named[0]) < 8, "it waited for Gradio"


def test_maps_are_drawn_though_plotly_failed_at_first(open_page: Callable[..., Page]) -> None:
    asked: list[str] = []

    def fail_thrice(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) < 4:
            route.abort()
        else:
            route.continue_()

    open_page(routes={"**/plotly*.js": fail_thrice})
    assert len(asked) == 4


def test_a_visitor_is_told_when_maps_cannot_be_drawn(open_page: Callable[..., Page]) -> None:
    page = open_page(routes={"**/plotly*.js": lambda route: route.abort()}, shown=".notice.error", locale="de-DE")
    page.wait_for_function("document.querySelectorAll('.chips.src .chip').length > 3")
    expect(page.locator(".notice.error")).to_contain_text("Bitte lade die Seite neu", use_inner_text=True)


def test_the_page_is_small(browser: Browser, address: str) -> None:
    """KB that come until the first map is drawn; who opens it on a phone waits for each."""
    _, fetched = opening(browser, address, DESK, 1)
    assert 500 < fetched < 1000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_has_the_colours_of_its_theme(open_page: Callable[..., Page], scheme: Theme) -> None:
    page = open_page(color_scheme=scheme)
    page.get_by_role("tab", name="Positions").click()
    page.wait_for_selector("#position-heatmap .xtick:visible")
    colour = "document.querySelector('#position-heatmap .plot').data[0].colorscale[4][1]"
    page.wait_for_function(f"{colour} === '{signed_scale(scheme)[4][1]}'")
    page.click("#page-chrome .theme")
    other = signed_scale("dark" if scheme == "light" else "light")[4][1]
    page.wait_for_function(f"{colour} === '{other}'")
