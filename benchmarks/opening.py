"""What a visitor waits for when the page opens: from the address to the first map, and what is fetched for it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from playwright.sync_api import Browser, CDPSession, Request

FIRST_MAP = "#attention-detail :is(.sketch text, .xtick)"
"""What a page shows as soon as it shows a map."""
_WATCH = (
    f"const FIRST_MAP = {FIRST_MAP!r};"
    + """
new MutationObserver((_, watch) => {
    if (!document.querySelector(FIRST_MAP)) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.firstMap = performance.now(); }));
}).observe(document, { subtree: true, childList: true });
"""
)
"""Notes when the first map is on the screen: what comes into the document is painted before the second frame after."""


@dataclass(frozen=True)
class Visitor:
    """A screen, a line and a processor; the line is as fast as this machine's own where nothing is said of it."""

    width: int
    height: int
    latency: float = 0.0
    """Milliseconds that each request waits."""
    bits: float | None = None
    """Bits a second that come in."""
    slower: float = 1.0
    """How many times slower than this machine's processor."""


DESK = Visitor(1440, 900)
PHONE = Visitor(390, 844, latency=300, bits=1.6e6, slower=4)
"""A middling phone over what Lighthouse calls slow 4G, with twice its latency."""


def opening(browser: Browser, address: str, visitor: Visitor, runs: int) -> tuple[float, float]:
    """Milliseconds to the first map and KB that came by then, medians; nothing is kept from one run to the next."""
    found = [_once(browser, address, visitor) for _ in range(runs)]
    shown, fetched = (statistics.median(values) for values in zip(*found, strict=True))
    return shown, fetched


def _once(browser: Browser, address: str, visitor: Visitor) -> tuple[float, float]:
    context = browser.new_context(viewport={"width": visitor.width, "height": visitor.height})
    page = context.new_page()
    page.set_default_timeout(120_000)
    ended: list[Request] = []
    page.on("requestfinished", lambda request: ended.append(request))
    if visitor.latency or visitor.bits or visitor.slower != 1:
        _slow_down(context.new_cdp_session(page), visitor)
    page.add_init_script(_WATCH)
    page.goto(address, wait_until="commit")
    while not (shown := page.evaluate("window.firstMap")):
        page.wait_for_timeout(5)
    sizes = [each.sizes() for each in ended]
    context.close()
    return shown, sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes) / 1000


def _slow_down(devtools: CDPSession, visitor: Visitor) -> None:
    """Make the line and the processor the visitor's."""
    line = {"latency": visitor.latency, "downloadThroughput": visitor.bits / 8 if visitor.bits else -1}
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", {"offline": False, "uploadThroughput": -1, **line})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": visitor.slower})
