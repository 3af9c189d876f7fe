"""A visitor who comes again: the browser has the page's files, and nothing else of the visits before."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

RENDERERS = "--renderer-process-limit=1"
"""One process draws all pages, so that its compiled scripts serve the next: half of an opening's processor time."""
STILL = "/static/js/iframeResizer.contentWindow.min.js"
"""What the page shows that keeps this process alive: text of the server's own origin."""


class Regular:
    """Opens pages of servers, and forgets cookies, permissions and storage with them."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context()
        self._kept: dict[str, Page] = {}

    def page(self, server: str, *, width: int, height: int, stored: dict[str, str] | None = None) -> Page:
        """A tab in which `server` will be opened; no other is open but those that were asked for since `forget`.

        What is `stored` is in the page's storage before it is opened.
        """
        if server not in self._kept:
            self._kept[server] = self.context.new_page()
            self._kept[server].goto(server + STILL)
        if stored:
            self._kept[server].evaluate("stored => Object.assign(localStorage, stored)", stored)
        page = self.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        return page

    def forget(self) -> None:
        """Close all tabs and remove what the pages stored; the files stay in the cache."""
        for page in self.context.pages:
            if page not in self._kept.values():
                page.close()
        for server, kept in self._kept.items():
            session = self.context.new_cdp_session(kept)
            for origin in (server, "file://"):
                session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
            session.detach()
        self.context.clear_cookies()
        self.context.clear_permissions()
